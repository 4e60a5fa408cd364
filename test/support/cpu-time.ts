// What work costs, however long it has to wait for its turn on a machine that is busy.

/** The milliseconds of processor time that `work` takes. */
export async function cpuTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
