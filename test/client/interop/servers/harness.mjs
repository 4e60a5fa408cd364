// Preloaded into a server that listens on a port: it tells its port and its open sockets, and ends with the process that started it.
import { Server } from "node:net";

const sockets = new Set();
const { listen } = Server.prototype;

Server.prototype.listen = function (...args) {
  this.once("listening", () => process.send({ port: this.address().port }));
  this.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return listen.apply(this, args);
};

process.on("message", () => process.send({ sockets: sockets.size }));
process.on("disconnect", () => process.exit(0));
