import { between, type Range } from './range.js'

/** What a part of a database, or work on it, takes as measured. */
export interface Cost extends Range {
  readonly what: string
  readonly unit: string
  /** The command that measured it, and the commit. */
  readonly source: string
}

export type Costs = { readonly [name in CostName]: Cost }

export type CostName =
  | ('blockBytes' | 'transactionBytes' | 'transactionIndexBytes' | 'addressIndexBytes')
  | ('logBytes' | 'logIndexBytes' | 'addressBytes')
  | ('accountChangeBytes' | 'slotChangeBytes' | 'changedKeyBytes')
  | ('trieBytes' | 'trieLayerBytes' | 'sparseKeyBytes' | 'dumpBytes')
  | ('noneWrittenPerBlock' | 'noneWrittenPerTransaction')
  | ('executeWrittenPerBlock' | 'executeWrittenPerChange')
  | 'sparseWrittenPerChange'
  | ('noneMemory' | 'stateMemory')
  | ('noneTransactionsPerSecond' | 'executeTransactionsPerSecond' | 'dumpItemsPerSecond')

function cost(what: string, source: string, low: number, high = low): Cost {
  return { ...between(low, high), what, unit: 'bytes', source }
}

function rate(what: string, source: string, low: number, high = low): Cost {
  return { ...between(low, high), what, unit: 'a second', source }
}

/** The runs that the sources of the costs name. */
export const RUNS = {
  fill: '`npm run bench:logs -- --phase fill --logs 1000000 --no-ordinary`, commit 396cb9e9',
  following:
    '`npm run bench:sync -- --phase sparse --accounts 100000 --sparse-blocks 700 --window 150 --followers execute,none,auto`, commit 396cb9e9: ' +
    '187 transactions, 400 changed accounts, 1,000 changed slots and 250 logs a block',
  small: 'the same with `--block-percent 10`: 47, 76, 100 and 25',
  sparse: 'following and small, with `--followers none,auto`, commit 26cfb972',
  large:
    '`npm run bench:sync -- --phase sparse --accounts 1000000 --slots 500000 --sparse-blocks 3072 --window 1024 --followers execute --state-dir DIR`, ' +
    'commit 41abfed1: as many in a block',
  rates:
    '`npm run bench:sync -- --phase rates,commits,reorgs --blocks 300`, commit d17b0f33: 151 transactions and 250 logs a block',
} as const

const FITTED = 'following, small: a line through both, of the first blocks and of the last ones'
const DUMP = '[a whole state](real-network.md#a-whole-state), commit 8bcdd9fe'
const MEASURED = 'mainnet 0 to 8,191 ([measured](#measured))'

const MIB = 2 ** 20

/** What was measured on 2 cores (AMD EPYC) that other work shared, Node 24: bytes, counts and processor times. */
export const COSTS: Costs = {
  blockBytes: cost(
    'a block, without and with 16 withdrawals',
    'fill; following: 29.5 bytes a withdrawal',
    404,
    404 + 16 * 29.5,
  ),
  transactionBytes: cost('a transaction with its receipt; most of it is input', 'fill; following', 290.6, 516.2),
  transactionIndexBytes: cost(
    'a transaction in the transaction index',
    'fill; 2,030,306 logs ([measured](#measured))',
    8.2,
    8.5,
  ),
  addressIndexBytes: cost(
    'a transaction in the address index, without and with internal calls',
    'following',
    9.4,
    15.2,
  ),
  logBytes: cost('a log', 'fill', 89.2),
  logIndexBytes: cost('a log in its index', 'fill', 12.6),
  addressBytes: cost('an address', 'fill', 60.9),
  accountChangeBytes: cost('a change of an account', `following; ${MEASURED}`, 40, 50),
  slotChangeBytes: cost('a change of a slot', 'following, large', 50.8, 66.1),
  changedKeyBytes: cost('a change in the list of what a block changed', 'following', 24.9),
  trieBytes: cost('an account or slot in the state trie', `following; ${MEASURED}`, 64.6, 86),
  trieLayerBytes: cost('state tries of the last blocks, in all', 'small, large', 8.2e6, 302.6e6),
  sparseKeyBytes: cost(
    'base row and partial trie of sparse state, a change; the high one: where each change is of an account or slot that was not known',
    'following: 15 MB for 980,000 changes, 101,906 of them first ones',
    15.3,
    147,
  ),
  dumpBytes: cost('an account or slot of a state dump', DUMP, 140),
  noneWrittenPerBlock: cost('written a block, `none`', FITTED, 16_000, 53_000),
  noneWrittenPerTransaction: cost('written a transaction more, `none`', FITTED, 1_230, 1_430),
  executeWrittenPerBlock: cost('written a block, `execute`', FITTED, 121_000, 176_000),
  executeWrittenPerChange: cost(
    'written a changed account or slot more, `execute`; the high one: of 10,000,000 accounts and 20,000,000 slots',
    'following, small: a line through both; [growth](benchmarks.md#growth): 10 MB for 1,400 changes, some of it calculated',
    2_240,
    7_000,
  ),
  sparseWrittenPerChange: cost(
    'written a changed account or slot, `sparse`; the high one: as `execute` in a large state',
    'sparse: the least, 3,920 bytes the most, no flush of the trie among them; [growth](benchmarks.md#growth)',
    3_150,
    7_000,
  ),
  noneMemory: cost('memory of a server that follows, `none`', 'following, small', 375 * MIB, 591 * MIB),
  stateMemory: cost('memory of a server that follows, with state', 'small, large', 520 * MIB, 954 * MIB),
  noneTransactionsPerSecond: rate(
    'transactions synced, `none`',
    'rates: 53.5 blocks/s over HTTP; at most by processor time, 9.2 ms a block',
    53.5 * 151,
    151_000 / 9.16,
  ),
  executeTransactionsPerSecond: rate(
    'transactions synced, `execute`, in a small state',
    '[following](benchmarks.md#following): 45.3 blocks/s of 151 transactions, commit d17b0f33',
    45.3 * 151,
  ),
  dumpItemsPerSecond: rate('accounts and slots imported, processor time', DUMP, 70_000),
}
