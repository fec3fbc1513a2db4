import type { Writable } from 'node:stream'
import { CairnError, messageOf } from './errors.js'

/** Standard output could not be written, such as a file on a full disk. */
export class OutputFailed extends CairnError {
  constructor(cause: unknown) {
    super(`standard output could not be written: ${messageOf(cause)}`, { cause })
  }
}

/** Resolves once the stream has accepted the content. False when its reader has gone (EPIPE), as `head` does.
 *  @throws OutputFailed for another failure */
export function writeStream(stream: Writable, content: string | Uint8Array): Promise<boolean> {
  return new Promise((resolve, reject) => {
    stream.write(content, (error) => {
      if (!error) resolve(true)
      else if (isClosedPipe(error)) resolve(false)
      else reject(new OutputFailed(error))
    })
  })
}

/** True for the error of a pipe without a reader. */
export function isClosedPipe(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'EPIPE'
}
