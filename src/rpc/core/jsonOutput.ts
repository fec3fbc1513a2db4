import type { ResultSink } from './context.js'
import { JsonBytes } from './method.js'

/** A result that a handler writes piece by piece. */
export interface JsonOutput {
  write(text: string): void
  /** The result, or the part that was not sent yet. */
  end(): JsonBytes
}

/** Shorter results are returned whole. */
const CHUNK_CHARACTERS = 262_144

/** Returns an output that passes chunks on to `sink`. Without a sink, it keeps everything. */
export function createJsonOutput(sink: ResultSink | undefined): JsonOutput {
  let text = ''
  const chunks: Buffer[] = []
  return {
    write(more) {
      text += more
      if (text.length < CHUNK_CHARACTERS) return
      const chunk = Buffer.from(text)
      text = ''
      if (sink === undefined) chunks.push(chunk)
      else sink(chunk)
    },
    end: () => new JsonBytes(chunks.length === 0 ? Buffer.from(text) : Buffer.concat([...chunks, Buffer.from(text)])),
  }
}
