// Preloaded into a server on stdio: it tells which process it is, so that a test can see it end.
console.error(`pid ${process.pid}`);
