import { CairnError } from '../../../lib/errors.js'
import { L2ReorgBelowAccepted } from '../../../store/l2/l2Writer.js'

/** The upstream's layer-2 chain shares no block with the stored chain. */
export class NoCommonL2Block extends CairnError {
  readonly firstAvailable: number
  constructor(firstAvailable: number) {
    super(
      `the upstream has another layer-2 block ${firstAvailable} than this database, whose first one it is: no block is common to ` +
        'both; follow another upstream, or use another --datadir',
    )
    this.firstAvailable = firstAvailable
  }
}

/** True for an error that the upstream may recover from while following waits. */
export function isL2Alarm(error: unknown): boolean {
  return error instanceof L2ReorgBelowAccepted || error instanceof NoCommonL2Block
}
