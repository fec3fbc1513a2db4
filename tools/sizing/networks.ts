import { between, mean, type Range } from './range.js'

/** What a network has, from published figures. */
export interface Network {
  readonly name: string
  /** Whether Cairn knows the rules of its blocks (`--network`). */
  readonly isVerified: boolean
  /** Whether a machine can execute it from its genesis: none of the public networks. */
  readonly isExecutable: boolean
  /** Day of the totals, as YYYY-MM-DD; null for a chain of the command line. */
  readonly date: string | null
  readonly counts: Counts
  readonly growth: StateGrowth
}

/** What a transaction adds to the state on average. */
export interface StateGrowth {
  readonly accounts: number
  readonly slots: number
  readonly codeBytes: number
}

/** A figure with where it is published. */
export interface Count extends Range {
  readonly source: string
  /** False where it is published, or follows from published figures without an assumption. */
  readonly isEstimate: boolean
}

export type CountName = keyof typeof COUNTS
export type Counts = { readonly [name in CountName]: Count }

/** What the counts are, for the tables. Of a transaction: on average. */
export const COUNTS = {
  blocks: 'blocks',
  blockSeconds: 'seconds a block',
  transactions: 'transactions',
  transactionsPerDay: 'transactions a day',
  logs: 'logs',
  logsPerTransaction: 'logs a transaction, lately',
  accounts: 'accounts of the state',
  slots: 'slots of the state',
  codeBytes: 'bytes of contract code',
  changedAccounts: 'accounts changed a transaction, lately',
  changedSlots: 'slots changed a transaction, lately',
} as const

function published(source: string, low: number, high = low): Count {
  return { ...between(low, high), source, isEstimate: false }
}

function estimate(source: string, low: number, high: number): Count {
  return { ...between(low, high), source, isEstimate: true }
}

/* Erigon numbers transactions through all blocks, two numbers of each block for itself. The names of its state files
 * have the last number in steps of 1,562,500. Those of Sepolia from 2256 on, of February 2026, and of Gnosis from 1104
 * on, of March 2026, count quarters of it (erigontech/erigon#21152, #21905). */
const STEP = 1_562_500
const QUARTER_STEP = STEP / 4

/** Returns the transactions up to a block of Erigon's state files. */
function countTransactions(steps: number, stepSize: number, blocks: number): number {
  return steps * stepSize - 2 * blocks
}

/* Geth's log index numbers the values of logs, their address and topics, through all blocks, and each block once
 * (core/filtermaps of geth 1.17.10). A log has one to five values. That of an ERC-20 transfer has four, that of the
 * reserves of a pair two. */
const VALUES_PER_LOG = between(3.3, 4)

/** Returns the logs with that many values. */
function countLogs(values: number): readonly [low: number, high: number] {
  return [values / VALUES_PER_LOG.high, values / VALUES_PER_LOG.low]
}

const ERIGON = 'erigontech/erigon-snapshot'
const VALUES = `3.3 to 4 values a log, assumed`

const BAL = 'average of blocks 22,615,032 to 22,616,022, June 2025 (EIP-7928, bal_size_analysis)'

const SLOT_SECONDS = 12
const DAY_SECONDS = 86_400
const MAINNET_TRANSACTIONS = countTransactions(2_102, STEP, 24_367_000)

const mainnet: Omit<Network, 'growth'> = {
  name: 'mainnet',
  isVerified: true,
  isExecutable: false,
  date: '2026-02-03',
  counts: {
    blocks: published(`${ERIGON} d9c1492, mainnet.toml, 2026-02-03`, 24_367_000),
    blockSeconds: published('consensus specification: a slot; missed slots are not counted', SLOT_SECONDS),
    transactions: published(`${ERIGON} d9c1492: 2,102 steps`, MAINNET_TRANSACTIONS),
    transactionsPerDay: published(
      `${ERIGON}: 222.7 a block from 25f7544 (2025-07-18) to 36e3fbf (2025-12-03), 324.7 from 747bb8f (2026-01-04) to d9c1492`,
      222.7 * (DAY_SECONDS / SLOT_SECONDS),
      324.7 * (DAY_SECONDS / SLOT_SECONDS),
    ),
    logs: estimate(
      `geth 1.17.10, checkpoints_mainnet.json: 21,249,720,656 values up to block 23,784,485, November 2025, then 2,444.3 a block; ${VALUES}`,
      ...countLogs(21_249_720_656 + 2_444.3 * (24_367_000 - 23_784_485)),
    ),
    logsPerTransaction: estimate(
      `geth 1.17.10, checkpoints_mainnet.json: 2,444.3 values a block from 22,988,600 to 23,784,485, with 222.7 transactions; ${VALUES}`,
      ...countLogs(2_444.3 / 222.7),
    ),
    accounts: published('ethereum/go-ethereum#33254, block 23,872,855, 2025-11-25', 328_391_891),
    slots: published('ethereum/go-ethereum#33254, block 23,872,855, 2025-11-25', 1_416_438_531),
    codeBytes: published('ethereum/go-ethereum#33254, block 23,872,855: 1,940,146 codes', 12_167_255_338),
    changedAccounts: estimate(
      `${BAL}: 407 accounts accessed by 183.4 transactions, so at most; at least the sender`,
      1,
      407 / 183.4,
    ),
    changedSlots: published(`${BAL}: 583.2 slots written by 183.4 transactions`, 583.2 / 183.4),
  },
}

const MAINNET_CHANGES = 'those of mainnet, half to 1.5 times'

/** Returns estimates of a state that has as much a transaction as mainnet's, half to twice. */
function estimateState(transactions: number): Pick<Counts, 'accounts' | 'slots' | 'codeBytes'> {
  const source = "mainnet's a transaction, half to twice: none is published"
  const scale = ({ low }: Count) => {
    const mean = (low * transactions) / MAINNET_TRANSACTIONS
    return estimate(source, mean / 2, mean * 2)
  }
  const { accounts, slots, codeBytes } = mainnet.counts
  return { accounts: scale(accounts), slots: scale(slots), codeBytes: scale(codeBytes) }
}

const estimatedChanges: Pick<Counts, 'changedAccounts' | 'changedSlots'> = {
  changedAccounts: estimate(`${MAINNET_CHANGES}; at least the sender`, 1, (1.5 * 407) / 183.4),
  changedSlots: estimate(MAINNET_CHANGES, (0.5 * 583.2) / 183.4, (1.5 * 583.2) / 183.4),
}

const SEPOLIA_TRANSACTIONS = countTransactions(2_312, QUARTER_STEP, 10_385_000)

const sepolia: Omit<Network, 'growth'> = {
  name: 'sepolia',
  isVerified: true,
  isExecutable: false,
  date: '2026-03-05',
  counts: {
    blocks: published(`${ERIGON} 37cc522, sepolia.toml, 2026-03-05`, 10_385_000),
    blockSeconds: published('consensus specification: a slot; missed slots are not counted', SLOT_SECONDS),
    transactions: published(`${ERIGON} 37cc522: 2,312 quarter steps`, SEPOLIA_TRANSACTIONS),
    transactionsPerDay: published(
      `${ERIGON}: 111.1 a block from 36e3fbf (2025-12-03) to 37cc522, 169.0 from ee19c09 (2025-07-18)`,
      111.1 * (DAY_SECONDS / SLOT_SECONDS),
      169 * (DAY_SECONDS / SLOT_SECONDS),
    ),
    logs: estimate(
      `geth 1.17.10, checkpoints_sepolia.json: 6,500,674,569 values up to block 8,884,811, August 2025, then 10.6 a transaction; ${VALUES}`,
      ...countLogs(6_500_674_569 + 10.6 * (SEPOLIA_TRANSACTIONS - 633_172_500)),
    ),
    logsPerTransaction: estimate(
      `geth 1.17.10, checkpoints_sepolia.json: 10.6 values a transaction from block 7,960,147 to 8,884,811; ${VALUES}`,
      ...countLogs(10.6),
    ),
    ...estimateState(SEPOLIA_TRANSACTIONS),
    ...estimatedChanges,
  },
}

const LOGS_ELSEWHERE = 'the least of mainnet to the most of Sepolia and mainnet: none are published'
const LOGS_A_TRANSACTION = between(1.7, 3.4)
const GNOSIS_TRANSACTIONS = countTransactions(1_106, QUARTER_STEP, 44_962_000)

const gnosis: Omit<Network, 'growth'> = {
  name: 'gnosis',
  isVerified: false,
  isExecutable: false,
  date: '2026-03-04',
  counts: {
    blocks: published(`${ERIGON} 5c1bda8, gnosis.toml, 2026-03-04`, 44_962_000),
    blockSeconds: published(`${ERIGON}: 3,822,000 blocks in 229 days; a slot has 5`, 5, 5.2),
    transactions: published(`${ERIGON} 5c1bda8: 1,106 quarter steps`, GNOSIS_TRANSACTIONS),
    transactionsPerDay: published(
      `${ERIGON}: 12.6 a block from 36e3fbf (2025-12-03) to 5c1bda8, 13.7 from 5b6d540 (2025-07-18)`,
      12.6 * (DAY_SECONDS / 5.2),
      13.7 * (DAY_SECONDS / 5),
    ),
    logs: estimate(
      LOGS_ELSEWHERE,
      LOGS_A_TRANSACTION.low * GNOSIS_TRANSACTIONS,
      LOGS_A_TRANSACTION.high * GNOSIS_TRANSACTIONS,
    ),
    logsPerTransaction: estimate(LOGS_ELSEWHERE, LOGS_A_TRANSACTION.low, LOGS_A_TRANSACTION.high),
    ...estimateState(GNOSIS_TRANSACTIONS),
    ...estimatedChanges,
  },
}

const BASE_TRANSACTIONS = between(4.8e9, 7.6e9)

const base: Omit<Network, 'growth'> = {
  name: 'base',
  isVerified: false,
  isExecutable: false,
  date: '2026-03-01',
  counts: {
    blocks: published(
      'a block each 2 s since the genesis at 1,686,789,347; block 52,100,838 at 2026-10-03 01:30:23 (apify.com/jedii_123/base-l2-pulse) agrees',
      42_766_926,
    ),
    blockSeconds: published('docs.base.org, throughput and limits', 2),
    transactions: estimate(
      'sum of published days: 2.1 million in April 2024, 3.6 in August, 5.4 in October, 7.5 to 12 in early 2025, 10 to 17 since November 2025',
      BASE_TRANSACTIONS.low,
      BASE_TRANSACTIONS.high,
    ),
    transactionsPerDay: published(
      '7.5 million in seven days of March 2025 (ainvest.com), 200 a second in November 2025 (meme-insider.com)',
      7.5e6,
      200 * DAY_SECONDS,
    ),
    logs: estimate(
      LOGS_ELSEWHERE,
      LOGS_A_TRANSACTION.low * BASE_TRANSACTIONS.low,
      LOGS_A_TRANSACTION.high * BASE_TRANSACTIONS.high,
    ),
    logsPerTransaction: estimate(LOGS_ELSEWHERE, LOGS_A_TRANSACTION.low, LOGS_A_TRANSACTION.high),
    accounts: estimate('155 million in early 2025 (deepnewz.com), up to three times since', 155e6, 465e6),
    slots: estimate(
      "grew in 2025 by 456 GB, where mainnet's state grew by 38 (arXiv 2606.19869), so by some 12 times mainnet's 200 million",
      2e9,
      6e9,
    ),
    codeBytes: estimateState(BASE_TRANSACTIONS.low).codeBytes,
    ...estimatedChanges,
  },
}

/** Returns the network whose state grows with its transactions as it did so far. */
function withGrowth(network: Omit<Network, 'growth'>): Network {
  const { counts } = network
  const share = (total: Range) => mean(total) / mean(counts.transactions)
  const [accounts, slots, codeBytes] = [counts.accounts, counts.slots, counts.codeBytes].map(share)
  return { ...network, growth: { accounts, slots, codeBytes } }
}

/** The networks, in the order of the tables. */
export const NETWORKS: readonly Network[] = [mainnet, sepolia, gnosis, base].map(withGrowth)

/** Returns the network of that name. @throws Error that lists the names */
export function requireNetwork(name: string): Network {
  const found = NETWORKS.find((network) => network.name === name)
  if (found) return found
  throw new Error(`--network: expected one of ${NETWORKS.map((network) => network.name).join(', ')}, got ${name}`)
}
