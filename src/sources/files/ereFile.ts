import {
  COMPRESSED_BODY,
  COMPRESSED_HEADER,
  COMPRESSED_SLIM_RECEIPTS,
  DYNAMIC_BLOCK_INDEX,
  ENTRY_HEADER_BYTES,
  MAX_FILE_BLOCKS,
  PROOF,
  TOTAL_DIFFICULTY,
} from '../../chain/eth/history/entryTypes.js'
import { SourceError } from '../source.js'
import { type Entry, readBlockIndex, readEntry, requireE2storeFormat, viewOf } from './e2store.js'
import { type FileBytes, openFileBytes } from './fileBytes.js'

/** The parts of a block that an ere file indexes. */
export type EreComponent = 'header' | 'body' | 'receipts' | 'totalDifficulty' | 'proof'

const COMPONENT_OF_TYPE: { readonly [type: number]: EreComponent } = {
  [COMPRESSED_HEADER]: 'header',
  [COMPRESSED_BODY]: 'body',
  [COMPRESSED_SLIM_RECEIPTS]: 'receipts',
  [TOTAL_DIFFICULTY]: 'totalDifficulty',
  [PROOF]: 'proof',
}

/** The order of the sections in a file. */
const SECTIONS = ['header', 'body', 'receipts', 'proof', 'totalDifficulty'] as const satisfies readonly EreComponent[]

const MIN_COMPONENTS = 2
const MAX_COMPONENTS = 5
const NUMBER_BYTES = 8
// Type and length of the entry, first block number, component count and block count.
const FIXED_INDEX_BYTES = ENTRY_HEADER_BYTES + 3 * NUMBER_BYTES

/** An open ere file: its index, and the entries that it points to. */
export class EreFile {
  readonly path: string
  readonly bytes: FileBytes
  readonly firstNumber: number
  readonly blockCount: number
  /** Byte offset of the index entry. */
  readonly indexStart: number
  /** By component: offsets of the entries, by ordinal of the block. */
  private readonly offsets: ReadonlyMap<EreComponent, readonly number[]>

  /** Reads the index. @throws SourceError when it is malformed */
  constructor(path: string, bytes: FileBytes) {
    this.path = path
    this.bytes = bytes
    const { start, firstNumber, blockCount, components } = readIndex(path, bytes)
    this.indexStart = start
    this.firstNumber = firstNumber
    this.blockCount = blockCount
    this.offsets = this.nameComponents(components)
    this.checkSections()
  }

  close(): void {
    this.bytes.close()
  }

  /** False where the profile of the file leaves a component out. */
  has(component: EreComponent): boolean {
    return this.offsets.has(component)
  }

  /** Returns the entry of a component of block `ordinal`, read by `bytes`. @throws SourceError when it is malformed, or
   *  does not end where the next entry begins */
  entry(component: EreComponent, ordinal: number, bytes = this.bytes): Entry {
    const { path } = this
    const offsets = this.offsets.get(component)!
    const start = offsets[ordinal]
    const entry = readEntry(path, bytes, start, this.indexStart)
    if (COMPONENT_OF_TYPE[entry.type] !== component) {
      const problem = `expected an entry of the kind ${component}, got type 0x${entry.type.toString(16)}`
      throw new SourceError({ path, offset: start, ordinal, problem })
    }
    const next = offsets[ordinal + 1]
    if (next !== undefined && next !== entry.end) {
      const problem = `expected the next ${component} at byte ${entry.end}, the index says ${next}`
      throw new SourceError({ path, offset: start, ordinal, problem })
    }
    return entry
  }

  /** Returns the entry after the sections, such as the accumulator; undefined at the index. @throws SourceError */
  *entriesAfterSections(): Generator<Entry> {
    const last = SECTIONS.findLast((section) => this.has(section))!
    let at = this.entry(last, this.blockCount - 1).end
    while (at < this.indexStart) {
      const entry = readEntry(this.path, this.bytes, at, this.indexStart)
      yield entry
      at = entry.end
    }
  }

  /** Names the components by the types of the first block's entries. @throws SourceError */
  private nameComponents(components: readonly (readonly number[])[]): ReadonlyMap<EreComponent, readonly number[]> {
    const { path } = this
    const named = new Map<EreComponent, readonly number[]>()
    for (const offsets of components) {
      for (const [ordinal, offset] of offsets.entries()) {
        if (Number.isSafeInteger(offset) && offset >= ENTRY_HEADER_BYTES && offset < this.indexStart) continue
        const problem = `expected an offset within the file, the index says ${offset}`
        throw new SourceError({ path, offset: this.indexStart, ordinal, problem })
      }
      const { type } = readEntry(path, this.bytes, offsets[0], this.indexStart)
      const component = COMPONENT_OF_TYPE[type]
      if (component === undefined || named.has(component)) {
        const problem = `the index points to ${component === undefined ? 'an unknown entry' : 'a second entry'} of type 0x${type.toString(16)}`
        throw new SourceError({ path, offset: offsets[0], ordinal: 0, problem })
      }
      named.set(component, offsets)
    }
    for (const component of ['header', 'body'] as const) {
      if (!named.has(component))
        throw new SourceError({ path, offset: this.indexStart, problem: `the index has no ${component} component` })
    }
    return named
  }

  /** Checks that the headers begin the file, and that each section begins where the one before ends. @throws
   *  SourceError */
  private checkSections(): void {
    let expected = ENTRY_HEADER_BYTES
    for (const section of SECTIONS) {
      if (!this.has(section)) continue
      const offset = this.offsets.get(section)![0]
      if (offset !== expected) {
        const problem = `expected the first ${section} at byte ${expected}, the index says ${offset}`
        throw new SourceError({ path: this.path, offset: this.indexStart, ordinal: 0, problem })
      }
      expected = this.entry(section, this.blockCount - 1).end
    }
  }
}

/** Opens an ere file, gzip or not. @throws UsageError when it cannot be opened; SourceError when it is not ere or its
 *  index is wrong */
export function openEreFile(path: string): EreFile {
  const bytes = openFileBytes(path)
  try {
    return new EreFile(path, bytes)
  } catch (error) {
    bytes.close()
    throw error
  }
}

interface DynamicIndex {
  readonly start: number
  readonly firstNumber: number
  readonly blockCount: number
  /** By component in the order of the index: offsets in the file. */
  readonly components: readonly (readonly number[])[]
}

/** Reads the index at the end of the file: first block number, offsets relative to the index entry by block and
 *  component, component count, block count. @throws SourceError */
function readIndex(path: string, file: FileBytes): DynamicIndex {
  const { size } = file
  requireE2storeFormat(path, file, 'ere')
  const counts = viewOf(file.read(size - 2 * NUMBER_BYTES, 2 * NUMBER_BYTES))
  const componentCount = Number(counts.getBigUint64(0, true))
  const blockCount = Number(counts.getBigUint64(NUMBER_BYTES, true))
  requireCount(path, size - NUMBER_BYTES, blockCount, { name: 'a block count', least: 1, most: MAX_FILE_BLOCKS })
  const componentLimits = { name: 'a component count', least: MIN_COMPONENTS, most: MAX_COMPONENTS }
  requireCount(path, size - 2 * NUMBER_BYTES, componentCount, componentLimits)
  const start = size - FIXED_INDEX_BYTES - NUMBER_BYTES * blockCount * componentCount
  if (start < ENTRY_HEADER_BYTES)
    throw new SourceError({ path, offset: size, problem: 'expected a longer file for its number of blocks' })
  const { view, firstNumber } = readBlockIndex(path, file, { type: DYNAMIC_BLOCK_INDEX, start, blockCount })
  const offsetAt = (ordinal: number, component: number) =>
    start + Number(view.getBigInt64(NUMBER_BYTES * (1 + ordinal * componentCount + component), true))
  const components = Array.from({ length: componentCount }, (_, component) =>
    Array.from({ length: blockCount }, (_, ordinal) => offsetAt(ordinal, component)),
  )
  return { start, firstNumber, blockCount, components }
}

/** @throws SourceError when a count of the index is not possible */
function requireCount(
  path: string,
  offset: number,
  count: number,
  { name, least, most }: { name: string; least: number; most: number },
): void {
  if (count >= least && count <= most) return
  const problem = `expected ${name} of ${least} to ${most}, got ${count}; the file may be cut off`
  throw new SourceError({ path, offset, problem })
}
