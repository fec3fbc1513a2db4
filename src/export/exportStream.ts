import { existsSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import type { BlockRange } from '../chain/eth/types.js'
import { publishFile, withPath } from '../lib/durableFiles.js'
import { writeStream } from '../lib/writeStream.js'
import type { Dataset } from './dataset.js'
import { createEncoder } from './encoders/encoder.js'
import type { Format } from './encoders/rowEncoder.js'
import { OtherExport } from './errors.js'
import { type ExportControl, type ExportedRange, exportBlocks } from './exportBlocks.js'
import { temporaryName } from './fileNames.js'
import type { ExportSource } from './source.js'

/** One dataset as one file. */
interface FileTerms {
  readonly dataset: Dataset
  readonly format: Format
  readonly range: BlockRange
  readonly control: ExportControl
}

/** Writes the file, which appears under its name once complete. @throws OtherExport if it exists; ChainChanged; the
 *  reason of the signal */
export async function exportToFile(source: ExportSource, path: string, terms: FileTerms): Promise<ExportedRange> {
  const { dataset, format, range, control } = terms
  if (existsSync(path)) throw new OtherExport(`${path} is there already; remove it, or use another --out`)
  const temporary = temporaryName(path)
  const file = await open(temporary, 'w')
  try {
    const encoder = await createEncoder(format, dataset.columns)
    const write = async (bytes: Uint8Array) => {
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
    }
    const found = await exportBlocks(source, dataset, { range, target: { encoder, write }, control })
    await file.close()
    publishFile(temporary, path)
    return found
  } catch (error) {
    await file.close()
    rmSync(temporary, { force: true })
    throw withPath(error, path)
  }
}

/** Writes to a stream, respecting backpressure. Returns undefined if the reader closes it, as `head` does.
 *  @throws ChainChanged; the reason of the signal; OutputFailed */
export async function exportToStream(
  source: ExportSource,
  stream: Writable,
  { dataset, format, range, control }: FileTerms,
): Promise<ExportedRange | undefined> {
  const encoder = await createEncoder(format, dataset.columns)
  const write = async (bytes: Uint8Array) => {
    if (!(await writeStream(stream, bytes))) throw READER_GONE
  }
  const ignore = () => {} // also reported to the write's callback
  stream.on('error', ignore)
  try {
    return await exportBlocks(source, dataset, { range, target: { encoder, write }, control })
  } catch (error) {
    if (error === READER_GONE) return undefined
    throw error
  }
}

const READER_GONE = new Error('the reader has gone')
