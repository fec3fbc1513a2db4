/** Writes a line to standard error, on a terminal in the place of a progress line that stands there. */
export function writeNotice(text: string): void {
  process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${text}\n`)
}
