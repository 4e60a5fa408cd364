// A certificate that the machine makes for one run: what a server with TLS needs, and clients do not trust.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function makeCertificate(): { readonly key: Buffer; readonly cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), "halyard-certificate-"));
  try {
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync("openssl", ["req", "-x509", "-days", "2", ...curve, ...files, ...names], { stdio: "pipe" });
    const [key, cert] = ["key.pem", "cert.pem"].map((name) => readFileSync(join(folder, name)));
    return { key: key!, cert: cert! };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
