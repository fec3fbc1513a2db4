import { accumulatorRoot, headerRecordRoot } from '../../chain/eth/history/accumulator.js'
import { followBlockProof, type ProvedRoot } from '../../chain/eth/history/blockProof.js'
import { ACCUMULATOR } from '../../chain/eth/history/entryTypes.js'
import { bytesToBigInt, equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { SourceError } from '../source.js'
import { decodingEntry, type FileHeader, readLinkedHeader, requireAccumulator, unpackEntry } from './e2store.js'
import type { EreFile } from './ereFile.js'

/** A header of an ere file. */
export interface EreHeader {
  readonly rlp: Uint8Array
  readonly hash: Uint8Array // 32
  /** Of the chain up to and including its block; undefined where the file has none. */
  readonly totalDifficulty?: bigint
}

/** All headers of an ere file. */
export interface EreHeaders {
  readonly headers: readonly EreHeader[]
  readonly proofs: {
    /** Proofs whose branch was followed from the block's hash to a root. */
    readonly followed: number
    /** Proofs of a type that is not known. */
    readonly unknown: number
  }
}

const NO_PROOFS = { followed: 0, unknown: 0 }

/** Reads all headers of an ere file: they follow each other by number and parent hash; the accumulator is that of the
 *  blocks before the merge; each proof leads from its block to the accumulator, or to the one root of its period of the
 *  beacon chain.
 *  @throws SourceError for the first that does not fit */
export function readEreHeaders(file: EreFile): EreHeaders {
  const headers: EreHeader[] = []
  const records: Uint8Array[] = []
  let parent: FileHeader | undefined
  for (let ordinal = 0; ordinal < file.blockCount; ordinal++) {
    const place = { path: file.path, ordinal, number: file.firstNumber + ordinal, parent }
    const read: FileHeader = readLinkedHeader(file.bytes, file.entry('header', ordinal), place)
    const { header, rlp, hash } = read
    const totalBytes = file.has('totalDifficulty') ? readTotal(file, ordinal) : undefined
    const totalDifficulty = totalBytes && bytesToBigInt(totalBytes.toReversed())
    // After the merge the file repeats the final total difficulty.
    const hasWork = header.difficulty > 0n
    if (totalBytes && hasWork && records.length === ordinal) records.push(headerRecordRoot(hash, totalBytes))
    headers.push({ rlp, hash, totalDifficulty })
    parent = read
  }
  const accumulator = verifyAccumulator(file, records)
  return { headers, proofs: file.has('proof') ? verifyProofs(file, headers, accumulator) : NO_PROOFS }
}

/** Returns a total difficulty, 32 bytes little-endian. @throws SourceError */
function readTotal(file: EreFile, ordinal: number): Uint8Array {
  const { start, value, end } = file.entry('totalDifficulty', ordinal)
  if (end - value === 32) return file.bytes.read(value, 32).slice()
  const problem = `expected a total difficulty of 32 bytes, got ${end - value}`
  throw new SourceError({ path: file.path, offset: start, ordinal, problem })
}

/** Compares the stored accumulator with that of the blocks before the merge. Returns it; undefined where the file has
 *  neither. @throws SourceError when they differ, or one is missing */
function verifyAccumulator(file: EreFile, records: readonly Uint8Array[]): Uint8Array | undefined {
  const { path, bytes } = file
  const entry = [...file.entriesAfterSections()].find(({ type }) => type === ACCUMULATOR)
  if (entry === undefined) {
    if (records.length === 0) return undefined
    throw new SourceError({ path, offset: file.indexStart, problem: 'expected an accumulator, since blocks have work' })
  }
  const { start, value, end } = entry
  const stored = bytes.read(value, end - value).slice()
  if (records.length === 0) {
    const problem = 'an accumulator needs total difficulties of blocks with work'
    throw new SourceError({ path, offset: start, problem })
  }
  requireAccumulator({ path, offset: start }, stored, accumulatorRoot(records))
  return stored
}

function verifyProofs(
  file: EreFile,
  headers: readonly EreHeader[],
  accumulator: Uint8Array | undefined,
): EreHeaders['proofs'] {
  const roots = new Map<string, Uint8Array>()
  let [followed, unknown] = [0, 0]
  for (const [ordinal, { hash }] of headers.entries()) {
    const entry = file.entry('proof', ordinal)
    const place = { path: file.path, offset: entry.start, ordinal }
    const block = { number: file.firstNumber + ordinal, hash }
    const proved = decodingEntry(place, () => followBlockProof(unpackEntry(file.bytes, entry), block))
    if (proved === undefined) {
      unknown++
      continue
    }
    const key = keyOfRoot(proved)
    const expected = proved.kind === 'accumulator' ? accumulator : (roots.get(key) ?? proved.root)
    if (expected === undefined || !equalBytes(proved.root, expected)) {
      const wanted = expected ? formatData(expected) : 'an accumulator in the file'
      const problem = `proof of block ${block.number}: expected the root ${wanted}, it leads to ${formatData(proved.root)}`
      throw new SourceError({ ...place, problem })
    }
    roots.set(key, proved.root)
    followed++
  }
  return { followed, unknown }
}

/** Blocks of one period of the beacon chain have one root. */
function keyOfRoot(proved: ProvedRoot): string {
  return proved.kind === 'accumulator' ? proved.kind : `${proved.kind} ${proved.period}`
}
