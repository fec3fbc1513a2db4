import { CairnError, UsageError } from '../../lib/errors.js'
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

/** True for any failure after which another attempt may help, such as a full disk. False for what a command can refuse
 *  at its start: wrong options, and upstreams that are all of another chain. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof UsageError || error instanceof UpstreamError)
}
