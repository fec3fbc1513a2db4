/** Why state is fetched: a block is executed, or a request reads what is not known. */
export type StateFetchReason = 'block' | 'request'

/** Fetched state of one reason. */
export interface FetchedCounts {
  /** Rounds: what was missing at a time, in one or several requests to upstreams. */
  readonly fetches: number
  readonly accounts: number
  readonly slots: number
  /** Trie nodes and codes as bytes, before hex. */
  readonly bytes: number
}

/** Counts of fetched state since the start. */
export interface StateFetchStatus {
  readonly block: FetchedCounts
  readonly request: FetchedCounts
  /** Requests whose state was not fetched: busy, late, or not to be had from the upstreams. */
  readonly refused: number
  /** Requests that wait for state now. */
  readonly waiting: number
}

const NOTHING: FetchedCounts = { fetches: 0, accounts: 0, slots: 0, bytes: 0 }

/** Counts fetched state. It outlives the database connection that the state is written with. */
export class StateFigures {
  private readonly counts: { [reason in StateFetchReason]: FetchedCounts } = { block: NOTHING, request: NOTHING }
  private refusals = 0
  /** Requests that wait for state now. */
  waiting = 0

  /** Counts one round. */
  fetched(reason: StateFetchReason, { accounts, slots, bytes }: Omit<FetchedCounts, 'fetches'>): void {
    const before = this.counts[reason]
    this.counts[reason] = {
      fetches: before.fetches + 1,
      accounts: before.accounts + accounts,
      slots: before.slots + slots,
      bytes: before.bytes + bytes,
    }
  }

  /** Counts a request whose state was not fetched. */
  refused(): void {
    this.refusals++
  }

  /** Returns the counts. */
  status(): StateFetchStatus {
    return { ...this.counts, refused: this.refusals, waiting: this.waiting }
  }
}
