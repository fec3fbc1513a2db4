import { type Count, type CountName, type Counts, NETWORKS, type Network } from './networks.js'
import { between, product, quotient, type Range, sum, times } from './range.js'

/** Figures of a chain that the command line gives: totals, and figures of a day. */
export interface GivenFigures {
  readonly blocks?: number
  readonly transactions?: number
  readonly logs?: number
  readonly accounts?: number
  readonly slots?: number
  readonly blockSeconds?: number
  readonly transactionsPerDay?: number
  readonly logsPerDay?: number
  readonly changedAccountsPerDay?: number
  readonly changedSlotsPerDay?: number
}

const DAY_SECONDS = 86_400

/** Returns the network with the given figures instead of its own. Those of a day are divided by its transactions. */
export function replaceFigures(network: Network, given: GivenFigures): Network {
  const { counts } = network
  const transactionsPerDay = given.transactionsPerDay ?? counts.transactionsPerDay
  const perDay = typeof transactionsPerDay === 'number' ? between(transactionsPerDay) : transactionsPerDay
  const share = (daily: number | undefined) => (daily === undefined ? undefined : quotient(between(daily), perDay))
  const replaced: { readonly [name in CountName]?: number | Range } = {
    ...{ blocks: given.blocks, transactions: given.transactions, logs: given.logs },
    ...{ accounts: given.accounts, slots: given.slots, blockSeconds: given.blockSeconds },
    transactionsPerDay: given.transactionsPerDay,
    logsPerTransaction: share(given.logsPerDay),
    changedAccounts: share(given.changedAccountsPerDay),
    changedSlots: share(given.changedSlotsPerDay),
  }
  const entries = Object.entries(counts).map(([name, count]) => {
    const value = replaced[name as CountName]
    return [name, value === undefined ? count : toCount(value)]
  })
  return { ...network, counts: Object.fromEntries(entries) as Counts }
}

function toCount(value: number | Range): Count {
  const range = typeof value === 'number' ? between(value) : value
  return { ...range, source: 'the command line', isEstimate: false }
}

/** Returns a chain of one's own, which is executed from its genesis. What is not given is as much a transaction as on
 *  mainnet, and follows from the transactions. @throws Error without the seconds of a block or the transactions of a
 *  day */
export function createOwnChain(given: GivenFigures): Network {
  const { blockSeconds, transactionsPerDay, transactions = 0 } = given
  if (blockSeconds === undefined || transactionsPerDay === undefined) {
    const missing = blockSeconds === undefined ? 'block-seconds' : 'transactions-per-day'
    throw new Error(`--${missing}: missing for a chain of your own; or name a network with --network`)
  }
  const [mainnet] = NETWORKS
  const own = replaceFigures({ ...mainnet, name: 'own chain', isExecutable: true, date: null }, given)
  const follows = (range: Range): Count => ({ ...range, source: 'follows from the transactions', isEstimate: true })
  const days = transactions / transactionsPerDay
  const { accounts, slots, codeBytes } = own.growth
  const totals = {
    blocks: follows(between((days * DAY_SECONDS) / blockSeconds)),
    transactions: follows(between(transactions)),
    logs: follows(times(own.counts.logsPerTransaction, transactions)),
    accounts: follows(between(accounts * transactions)),
    slots: follows(between(slots * transactions)),
    codeBytes: follows(between(codeBytes * transactions)),
  }
  return replaceFigures({ ...own, counts: { ...own.counts, ...totals } }, given)
}

/** Returns the network as it is expected to be on a day, YYYY-MM-DD: its totals grow as lately. @throws Error for a day
 *  before that of its figures, and for a chain without one */
export function extrapolate(network: Network, date: string): Network {
  if (network.date === null) throw new Error('--date: the figures of a chain of your own have no day; give its totals')
  const days = (Date.parse(date) - Date.parse(network.date)) / (1000 * DAY_SECONDS)
  if (!/^\d{4}-\d\d-\d\d$/.test(date) || !(days >= 0)) {
    throw new Error(`--date: expected a day from ${network.date} on as YYYY-MM-DD, got ${date}`)
  }
  const { counts, growth } = network
  const transactions = times(counts.transactionsPerDay, days)
  const add = (count: Count, more: Range): Count => ({ ...count, ...sum(count, more) })
  return {
    ...{ ...network, date },
    counts: {
      ...counts,
      blocks: add(counts.blocks, times(quotient(between(DAY_SECONDS), counts.blockSeconds), days)),
      transactions: add(counts.transactions, transactions),
      logs: add(counts.logs, product(transactions, counts.logsPerTransaction)),
      accounts: add(counts.accounts, times(transactions, growth.accounts)),
      slots: add(counts.slots, times(transactions, growth.slots)),
      codeBytes: add(counts.codeBytes, times(transactions, growth.codeBytes)),
    },
  }
}
