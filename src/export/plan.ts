import type { BlockRange } from '../chain/eth/types.js'

/** What to export of one dataset. */
interface PlanTerms {
  /** Wanted blocks, clipped to the available ones; undefined if none. */
  readonly wanted?: BlockRange
  /** Blocks of dropped files, clipped to the available ones. */
  readonly redo: readonly BlockRange[]
  /** Ranges of the files that are kept. */
  readonly held: readonly BlockRange[]
  readonly rangeSize: number
  /** Omit a last range that does not end at a multiple of the range size. */
  readonly wholeOnly: boolean
}

/** A file to write, and the files that it replaces. */
export interface PlannedFile extends BlockRange {
  readonly replaces: readonly BlockRange[]
}

/** Returns the files to write, ascending. Each is within one aligned range `[k * size, (k + 1) * size - 1]`. A file
 *  with a part of the wanted blocks is replaced by one with both. No two files share a block. */
export function planFiles({ wanted, redo, held, rangeSize, wholeOnly }: PlanTerms): PlannedFile[] {
  const slots = new Map<number, BlockRange>()
  for (const range of wanted === undefined ? redo : [wanted, ...redo]) {
    for (let slot = Math.floor(range.from / rangeSize); slot * rangeSize <= range.to; slot++) {
      const [start, end] = [slot * rangeSize, (slot + 1) * rangeSize - 1]
      const own = { from: Math.max(range.from, start), to: Math.min(range.to, end) }
      slots.set(slot, hull([own, slots.get(slot) ?? own]))
    }
  }
  return [...slots]
    .sort(([a], [b]) => a - b)
    .flatMap(([slot, range]) => {
      const inSlot = held.filter(({ from }) => Math.floor(from / rangeSize) === slot)
      const file = planSlot(range, inSlot)
      return file === undefined || (wholeOnly && (file.to + 1) % rangeSize !== 0) ? [] : [file]
    })
}

function planSlot(range: BlockRange, inSlot: readonly BlockRange[]): PlannedFile | undefined {
  let whole = range
  let replaces: readonly BlockRange[] = []
  for (let before = -1; before !== replaces.length; ) {
    before = replaces.length
    replaces = inSlot.filter(({ from, to }) => from <= whole.to + 1 && to >= whole.from - 1)
    whole = hull([whole, ...replaces])
  }
  const [only] = replaces
  const isThere = replaces.length === 1 && only.from === whole.from && only.to === whole.to
  return isThere ? undefined : { ...whole, replaces }
}

function hull(ranges: readonly BlockRange[]): BlockRange {
  return { from: Math.min(...ranges.map(({ from }) => from)), to: Math.max(...ranges.map(({ to }) => to)) }
}

/** Returns the part of the range within the bounds; undefined if empty. */
export function clip(range: BlockRange, bounds: BlockRange): BlockRange | undefined {
  const from = Math.max(range.from, bounds.from)
  const to = Math.min(range.to, bounds.to)
  return from <= to ? { from, to } : undefined
}
