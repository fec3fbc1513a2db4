/** Writes a line to standard error, overwriting a progress line on a terminal. */
export function writeNotice(text: string): void {
  process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${text}\n`)
}
