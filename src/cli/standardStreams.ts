import { isClosedPipe, OutputFailed, writeStream } from '../lib/writeStream.js'
import { writeWhole } from '../lib/writeWhole.js'

/** Keeps a full disk or a closed pipe behind standard output or error from ending the process. What needs a line to arrive
 *  prints it with `printResult`. */
export function surviveOutputFailures(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/** Prints what a command was asked for, such as a list. A reader that has gone, such as `head`, has what it wanted.
 *  @throws OutputFailed */
export async function printResult(text: string): Promise<void> {
  await writeStream(process.stdout, `${text}\n`)
}

/** Prints what a command has done. Where standard output fails, the text goes to standard error with the reason: the work is
 *  done all the same, and the exit code says so. */
export function printSummary(text: string): void {
  process.stdout.write(`${text}\n`, (error) => {
    if (error && !isClosedPipe(error)) process.stderr.write(`cairn: ${new OutputFailed(error).message}; ${text}\n`)
  })
}

// For a pipe that other processes fill, too.
const PATIENCE_MS = 2000

/** Prints a secret that is shown once, before it is stored: a reader that has gone is a failure, too. Blocks until the line is
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
