import { CairnError } from '../lib/errors.js'

/** The holders of a token, or the tokens of an account, are more than are kept in memory. */
export class TooManyHoldings extends CairnError {
  readonly limit: number
  constructor(limit: number) {
    super(`more than ${limit} balances`)
    this.limit = limit
  }
}
