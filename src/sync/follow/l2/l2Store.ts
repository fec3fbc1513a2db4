import type { L2Reader } from '../../../store/l2/l2Reader.js'
import type { L2Writer } from '../../../store/l2/l2Writer.js'
import type { WriteTurns } from './writeTurns.js'

/** A database of layer-2 blocks, open for writing. */
export interface L2Store {
  readonly reader: L2Reader
  readonly writer: L2Writer
  readonly turns: WriteTurns
}
