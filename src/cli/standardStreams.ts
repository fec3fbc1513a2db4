import { isClosedPipe, OutputFailed, writeStream } from '../lib/writeStream.js'
import { writeWhole } from '../lib/writeWhole.js'

/** Keeps the process alive when standard output or error hits a full disk or a closed pipe. Use `printResult` for
 *  output that must arrive. */
export function surviveOutputFailures(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/** Prints the result of a command, such as a list. A closed pipe, as with `head`, is not an error.
 *  @throws OutputFailed */
export async function printResult(text: string): Promise<void> {
  await writeStream(process.stdout, `${text}\n`)
}

/** Prints what a command has done. If standard output fails, prints the text and the reason to standard error: the work
 *  is done nevertheless, and the exit code says so. */
export function printSummary(text: string): void {
  process.stdout.write(`${text}\n`, (error) => {
    if (error && !isClosedPipe(error)) process.stderr.write(`cairn: ${new OutputFailed(error).message}; ${text}\n`)
  })
}

/** Prints what a command has done, as `printSummary`: the text, or with `--json` the value as one line of JSON. */
export function printOutcome({ json }: { readonly json: boolean }, text: string, value: object): void {
  printSummary(json ? JSON.stringify(value) : text)
}

// Also covers a pipe that other processes fill.
const PATIENCE_MS = 2000

/** Prints a secret that is shown once, before it is stored: a closed pipe is an error. Blocks until the line is
 *  written, so that a transaction may wait for it. @throws OutputFailed */
export function printSecret(text: string): void {
  const line = Buffer.from(`${text}\n`)
  let written: number
  try {
    written = writeWhole(process.stdout.fd, line, PATIENCE_MS)
  } catch (error) {
    throw new OutputFailed(error)
  }
  if (written < line.length) throw new OutputFailed(new Error('nothing reads from its pipe'))
}
