import { CairnError, UsageError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import { UpstreamError } from '../../sources/upstreams/errors.js'

/** The upstream's chain shares no block with the stored chain, so that no rewind can reach it. */
export class NoCommonBlock extends CairnError {
  readonly firstAvailable: number
  constructor(firstAvailable: number) {
    super(
      `the upstream has another block ${firstAvailable} than this database, whose first block it is: no block is common to ` +
        'both; follow another upstream, or use another --datadir',
    )
    this.firstAvailable = firstAvailable
  }
}

/** `--from` names another block than that of the imported state dump. */
export class StateDumpAtOtherBlock extends UsageError {
  constructor(from: number, number: number) {
    super(`--from ${from}: the database has the state after block ${number}, and begins there; leave --from out`)
  }
}

/** The upstream has another block than that of the imported state dump. */
export class StateDumpNotInChain extends CairnError {
  readonly blockNumber: number
  constructor({ number, hash }: { number: number; hash: Uint8Array }, other: Uint8Array) {
    super(
      `the state dump of this database is of block ${number} ${formatData(hash)}, the upstream has ${formatData(other)}; ` +
        'follow another upstream, or import a dump of a finalized block into another --datadir',
    )
    this.blockNumber = number
  }
}

/** True for any failure after which another attempt may help, such as a full disk. False for what a command can refuse
 *  at its start: wrong options, and upstreams that are all of another chain. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof UsageError || error instanceof UpstreamError)
}
