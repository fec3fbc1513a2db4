import { instantiate } from '../../wasm/assembler.js'
import { assembleGapFilter, FOUND_AT, GAPS_AT, GAPS_BYTES, SET_AT } from '../../wasm/gapFilterModule.js'
import {
  CHUNK_SIZE,
  type ChunkCursor,
  type ChunkSet,
  chunkSetIn,
  createChunkSet,
  type PositionList,
} from './postings.js'

/** Intersects the postings of a chunk in gap form with a set. */
export interface GapFilter {
  /** The set, filled by the caller. */
  readonly set: ChunkSet
  /** Appends the positions of a chunk in gap form that are in the set. */
  appendTo(list: PositionList, chunk: ChunkCursor): void
}

/** Implementations, fastest first: WebAssembly takes a third of the time. */
export const GAP_FILTER_KINDS = ['wasm', 'javascript'] as const
type GapFilterKind = (typeof GAP_FILTER_KINDS)[number]

/** Creates an implementation of that kind. @throws Error without WebAssembly, or without enough memory. */
export function createGapFilter(kind: GapFilterKind): GapFilter {
  return kind === 'wasm' ? createWasmFilter() : createJavaScriptFilter()
}

interface FilterFunctions {
  filter(length: number): number
}

function createWasmFilter(): GapFilter {
  const { filter, memory } = instantiate<FilterFunctions>(assembleGapFilter())
  const gaps = new Uint8Array(memory.buffer, GAPS_AT, GAPS_BYTES)
  const found = new Uint32Array(memory.buffer, FOUND_AT, GAPS_BYTES)
  return {
    set: chunkSetIn(memory.buffer, SET_AT),
    appendTo: (list, { bytes, start, end, chunk }) => {
      gaps.set(bytes.subarray(start, end))
      const more = filter(end - start)
      const { values, count } = list
      for (let i = 0; i < more; i++) values[count + i] = chunk * CHUNK_SIZE + found[i]
      list.count = count + more
    },
  }
}

function createJavaScriptFilter(): GapFilter {
  const set = createChunkSet()
  const { words } = set
  return {
    set,
    appendTo: (list, { bytes, start, end, chunk }) => {
      const { values } = list
      let { count } = list
      let position = 0
      let shift = 0
      for (let i = start; i < end; i++) {
        const byte = bytes[i]
        position += (byte & 127) << shift
        shift = (shift + 7) & -(byte >>> 7)
        // A partial gap of several bytes rarely hits the set, so the byte is checked last.
        if (((words[position >>> 5] >>> position) & 1) === 1 && byte < 128) {
          values[count++] = chunk * CHUNK_SIZE + position
        }
      }
      list.count = count
    },
  }
}
