import { CairnError } from '../../lib/errors.js'

/** The address index does not reach the head: it was left out. */
export class AddressIndexMissing extends CairnError {
  /** @param last number of the last block in the index; undefined if it has none */
  constructor(last: number | undefined, head: number | undefined) {
    const reach =
      last === undefined ? 'the database has no address index' : `the address index ends at block ${last} of ${head}`
    super(`${reach}; 'cairn reindex' makes it, and --address-index on keeps it`)
  }
}
