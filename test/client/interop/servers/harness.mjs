// Preloaded into a server that listens on a port: it tells its port, and ends with the process that started it.
import { Server } from "node:net";

const { listen } = Server.prototype;

Server.prototype.listen = function (...args) {
  this.once("listening", () => process.send({ port: this.address().port }));
  return listen.apply(this, args);
};

process.on("disconnect", () => process.exit(0));
