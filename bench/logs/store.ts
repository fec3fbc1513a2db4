import type { BenchBlock } from '../../test/support/chains/logBlocks.js'
import type { Question } from './shapes.js'

/** Another store of the same logs, asked in process. */
export interface LogStore {
  readonly name: string
  /** Makes what the store takes of the blocks, in the form it takes it. @returns what stores it in one transaction:
   *  that is what is timed. */
  stage(blocks: readonly BenchBlock[]): () => void | Promise<void>
  /** What a careful operator does after a bulk load; no part of its time. */
  finish(): void | Promise<void>
  /** How many logs the filter wants, at most 10,001; their rows are read in the order of the chain. */
  find(question: Question): number | Promise<number>
  /** Bytes on disk per log. */
  bytesPerLog(): number | Promise<number>
  close(): void | Promise<void>
}
