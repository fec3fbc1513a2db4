import { CairnError, messageOf } from '../../lib/errors.js'

/** A part of a layer-2 block that its recording may lack. */
type L2Part = 'recording' | 'complete recording' | 'transactions' | 'receipts' | 'events' | 'state update'

/** The database has a layer-2 block without the requested part. */
export class L2PartUnavailable extends CairnError {
  /** Undefined for the unconfirmed block. */
  readonly blockNumber: number | undefined
  readonly part: L2Part
  constructor(blockNumber: number | undefined, part: L2Part, cause?: unknown) {
    const block = blockNumber === undefined ? 'the unconfirmed layer-2 block' : `layer-2 block ${blockNumber}`
    const reason = cause === undefined ? '' : ` (${messageOf(cause)})`
    super(`${block} is stored without ${part}${reason}; ${REMEDIES[part]}`, { cause })
    this.blockNumber = blockNumber
    this.part = part
  }
}

const WITH_RECEIPTS = 'import a recording of starknet_getBlockWithReceipts or get_block, or follow with --l2-upstream'
const REMEDIES: Readonly<Record<L2Part, string>> = {
  recording: WITH_RECEIPTS,
  'complete recording': WITH_RECEIPTS,
  transactions: WITH_RECEIPTS,
  receipts: WITH_RECEIPTS,
  events: WITH_RECEIPTS,
  'state update': 'import a recording of get_state_update with its block, or follow with --l2-upstream',
}

/** A layer-2 block below the newest one is not in the database. */
export class L2BlockUnavailable extends CairnError {
  readonly blockNumber: number
  constructor(blockNumber: number) {
    super(`layer-2 block ${blockNumber} is not available; import it, or ask for blocks after it`)
    this.blockNumber = blockNumber
  }
}
