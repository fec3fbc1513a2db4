import { CairnError } from '../../lib/errors.js'

/** The upstream's chain has no block in common with those held, so that there is nothing to rewind to. */
export class NoCommonBlock extends CairnError {
  readonly firstHeld: number
  constructor(firstHeld: number) {
    super(
      `the upstream has another block ${firstHeld} than this database, whose first block it is: no block is common to ` +
        'both; follow another upstream, or use another --datadir',
    )
    this.firstHeld = firstHeld
  }
}
