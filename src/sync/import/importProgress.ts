import { basename } from 'node:path'
import { createProgressDisplay, type DisplayTarget, monotonicMs } from '../../lib/progressDisplay.js'
import { formatElapsed, formatProgressLine, formatRate } from '../../lib/progressLine.js'
import { createRateMeter, estimateLeft } from '../../lib/rateMeter.js'

/** Totals of the import of one file so far. */
export interface FileTally {
  /** Blocks stored, and blocks that were already stored. */
  readonly blocks: number
  /** Transactions of stored blocks. */
  readonly transactions: number
  readonly gas: number
  /** Bytes read from the file; undefined when unknown before the end. */
  readonly bytes?: number
  /** Number of the last block. */
  readonly blockNumber?: number
}

/** Receives the progress of one file. */
export interface FileProgress {
  update(tally: FileTally): void
}

/** Shows the progress of several files as one total. */
export interface ImportProgress {
  /** Starts the next file. */
  startFile(path: string): FileProgress
  /** Ends the file; `note` describes the current head. */
  endFile(note: string): void
  /** Writes the final state. */
  finish(note: string): void
}

const NO_TALLY: FileTally = { blocks: 0, transactions: 0, gas: 0 }
const GAS_PER_MGAS = 1_000_000

/** Progress over files of these sizes in bytes, in import order; writes to standard error by default. */
export function createImportProgress(sizes: readonly number[], target: DisplayTarget = {}): ImportProgress {
  const { nowMs = monotonicMs } = target
  const display = createProgressDisplay(target)
  const startedMs = nowMs()
  const totalBytes = sizes.reduce((sum, size) => sum + size, 0)
  const meter = createRateMeter(4, nowMs)
  let before = { ...NO_TALLY, bytes: 0 } // totals of finished files
  let current = NO_TALLY
  let fileIndex = -1
  let label = ''

  const total = () => ({
    blocks: before.blocks + current.blocks,
    transactions: before.transactions + current.transactions,
    gas: before.gas + current.gas,
    bytes: before.bytes + Math.min(current.bytes ?? 0, sizes[fileIndex] ?? 0),
  })
  const measure = () => {
    const { blocks, transactions, gas, bytes } = total()
    meter.add([blocks, transactions, gas, bytes])
  }
  const render = (columns: number) => {
    const rates = meter.perSecond()
    const { bytes } = total()
    const number = current.blockNumber === undefined ? [] : [`block ${current.blockNumber.toLocaleString('en')}`]
    return formatProgressLine(
      {
        label,
        place: sizes.length === 1 ? undefined : `${fileIndex + 1} of ${sizes.length}`,
        figures: [...formatRates(rates), ...number],
        fraction: totalBytes === 0 ? undefined : bytes / totalBytes,
        secondsLeft: estimateLeft(totalBytes - bytes, rates[3], meter),
      },
      columns,
    )
  }
  return {
    startFile: (path) => {
      fileIndex++
      label = basename(path)
      return {
        update: (tally) => {
          current = tally
          measure()
          display.show(render)
        },
      }
    },
    endFile: (words) => {
      current = { ...current, bytes: sizes[fileIndex] }
      if (sizes.length > 1) display.log(`${label}: ${formatCount(current.blocks)}, ${words}`)
      before = total()
      current = NO_TALLY
      measure()
    },
    finish: (words) => {
      const seconds = (nowMs() - startedMs) / 1000
      const { blocks, transactions, gas } = total()
      const rates = [blocks, transactions, gas].map((count) => (seconds > 0 ? count / seconds : 0))
      const figures = [...formatRates(rates), words]
      const head = `${formatCount(blocks)} in ${formatElapsed(seconds)}`
      display.end((columns) => formatProgressLine({ label: head, figures }, columns))
    },
  }
}

/** Formats rates of blocks, transactions and gas; the last two only if present. */
function formatRates([blocks, transactions, gas]: readonly number[]): string[] {
  const rates = [formatRate(blocks, 'blocks')]
  if (transactions > 0) rates.push(formatRate(transactions, 'tx'), formatRate(gas / GAS_PER_MGAS, 'Mgas'))
  return rates
}

function formatCount(blocks: number): string {
  return `${blocks.toLocaleString('en')} blocks`
}

/** A progress without output. */
export const noImportProgress: ImportProgress = {
  startFile: () => ({ update() {} }),
  endFile() {},
  finish() {},
}
