/** Returns the milliseconds of a clock that all threads of the process share, unlike `performance.now()`. */
export function sharedClockMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}
