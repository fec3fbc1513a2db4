import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { decodeFunctionData, keccak256, parseAbi, toFunctionSelector, toFunctionSignature, toHex } from 'viem'
import { formatData } from '../../src/lib/hex.js'
import { silentLogger } from '../../src/lib/logger.js'
import { noProgress } from '../../src/lib/progress.js'
import type { RpcContext } from '../../src/rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { openContext } from '../../src/rpc/core/openContext.js'
import { createQueryRunner, type QueryRunner } from '../../src/sql/queryRunner.js'
import { packagePath } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import type { SqlValue } from '../../src/store/sql/runQuery.js'
import { fillTraces } from '../../src/sync/fillTraces.js'
import { createSender } from '../../tools/fixture/chainBuilder.js'
import { makeCallChain } from '../support/chains/callChain.js'
import { DEPLOYER, writeFactoryChain } from '../support/chains/factoryChain.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { HOLDER, LOGGERS } from '../support/chains/viewChain.js'
import { type Answers, askChains, type Block, type Hex, type Log } from '../support/compare/stateOracle.js'
import { callMethod } from '../support/compare/traces.js'
import { endOfFile } from '../support/endings.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

/* The statements of docs/queries.md, compared with answers that are made from JSON-RPC. */

const page = readFileSync(packagePath('docs/queries.md'), 'utf8')

/** A chain, and the addresses that take the place of those on the page. */
interface Chain {
  readonly answers: Answers
  readonly runner: QueryRunner
  readonly token: string
  readonly collection: string
  readonly holder: string
}

const chains: Chain[] = []

/** A chain with the trace index. */
interface TracedChain {
  readonly context: RpcContext
  readonly runner: QueryRunner
  readonly head: number
  readonly holder: string
  readonly deployer: string
}

const tracedChains: TracedChain[] = []
const ending = endOfFile()

const TOKEN_ABI = parseAbi([
  'function transfer(address to, uint256 value)',
  'function mint(address to, uint256 amount)',
  'function totalSupply()',
])

const PAGE_TOKEN = '0xed01f80b3b7f874af79e90e91e4ccca7fce24344'
const PAGE_COLLECTION = '0x920ea1b70a9d375eb674b11f20ee1cee7677b0af'
const PAGE_PAIR = '0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc'
const PAGE_DEPLOYER = '0xcf15d2ba0a658426b2a12c3d46f91478de39eacb'
const PAGE_HOLDER = '0x221bb027774bab0df7af52d570f14821a7402cba'
const ZERO = `0x${'00'.repeat(20)}`
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

before(async () => {
  const [token, collection] = LOGGERS.map(({ address }) => address)
  const { fixture, ...random } = await askChains(
    ending,
    THOROUGH ? { 'random 1': 1, 'random 2': 2 } : { 'random 2': 2 },
    { slots: false },
  )
  const open = (answers: Answers, addresses: Omit<Chain, 'answers' | 'runner'>) => {
    const runner = createQueryRunner({ datadir: answers.datadir, memoryBytes: 2 ** 30 })
    ending.after(runner.close)
    chains.push({ answers, runner, ...addresses })
  }
  open(fixture, { token: PAGE_TOKEN, collection: PAGE_COLLECTION, holder: PAGE_HOLDER })
  for (const answers of Object.values(random)) open(answers, { token, collection, holder: HOLDER })
  await openTraced(async (datadir) => {
    await importFixture(datadir)
    const db = openForWriting(datadir)
    await fillTraces(db, { progress: noProgress })
    db.close()
    return { holder: PAGE_HOLDER, deployer: PAGE_DEPLOYER }
  })
  await openTraced(async (datadir) => {
    const [factory] = await writeFactoryChain(datadir, 3)
    return { holder: factory, deployer: DEPLOYER }
  })
  await openTraced(async (datadir) => {
    const chain = { random: seededRandom(5), fork: 'frontier', count: THOROUGH ? 60 : 30, maxTransactions: 30 } as const
    await makeCallChain(datadir, chain, { traces: true })
    return { holder: `0x${'c0'.padEnd(39, '0')}5`, deployer: formatData(createSender('calls one').address) }
  })
})

async function openTraced(write: (datadir: string) => Promise<Pick<TracedChain, 'holder' | 'deployer'>>) {
  const datadir = temporaryDirectory(ending)
  const addresses = await write(datadir)
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  ending.after(close)
  const runner = createQueryRunner({ datadir, memoryBytes: 2 ** 30 })
  ending.after(runner.close)
  tracedChains.push({ context, runner, head: context.chain.head()!, ...addresses })
}

/** Rows of the statement under a heading, with other addresses in place of those on the page. */
async function rowsOf(
  heading: string,
  runner: QueryRunner,
  addresses: ReadonlyMap<string, string>,
): Promise<(readonly SqlValue[])[]> {
  const section = page.split(/^## /m).find((each) => each.startsWith(`${heading}\n`))
  const [, statement] = /^```sql\n([\s\S]*?)^```/m.exec(section ?? '') ?? assert.fail(`no statement under ${heading}`)
  const sql = statement
    .replaceAll(/0x[0-9a-f]{40}/g, (address) => addresses.get(address) ?? assert.fail(`${address} in ${heading}`))
    .replace(/;\s*$/, '')
  const rows: (readonly SqlValue[])[] = []
  for await (const { values } of runner.run({ sql, format: 'values' })) rows.push(...values)
  return rows
}

const covered = new Set<string>()

/** Compares the statement under a heading with an oracle, on all chains. `least`: rows on at least one chain. */
function question(heading: string, least: number, oracle: (chain: Chain) => unknown[][] | Promise<unknown[][]>): void {
  const addressesOf = ({ token, collection, holder }: Chain) =>
    new Map([
      [PAGE_TOKEN, token],
      [PAGE_COLLECTION, collection],
      [PAGE_HOLDER, holder],
      [PAGE_PAIR, token],
    ])
  compare(heading, least, { chains, addressesOf, oracle })
}

/** Like `question`, of the trace index. */
function tracedQuestion(heading: string, least: number, oracle: (chain: TracedChain) => Promise<unknown[][]>): void {
  const addressesOf = ({ holder, deployer }: TracedChain) =>
    new Map([
      [PAGE_HOLDER, holder],
      [PAGE_DEPLOYER, deployer],
    ])
  compare(heading, least, { chains: tracedChains, addressesOf, oracle })
}

interface Comparison<C> {
  readonly chains: readonly C[]
  addressesOf(chain: C): ReadonlyMap<string, string>
  oracle(chain: C): unknown[][] | Promise<unknown[][]>
}

function compare<C extends { readonly runner: QueryRunner }>(
  heading: string,
  least: number,
  { chains: compared, addressesOf, oracle }: Comparison<C>,
): void {
  covered.add(heading)
  test(heading, async () => {
    let most = 0
    for (const chain of compared) {
      const rows = await rowsOf(heading, chain.runner, addressesOf(chain))
      assert.deepEqual(rows, await oracle(chain))
      most = Math.max(most, rows.length)
    }
    assert.ok(most >= least, `${most} rows at most`)
  })
}

const dayOf = ({ timestamp }: Pick<Block, 'timestamp'>) =>
  new Date(Number(timestamp) * 1_000).toISOString().slice(0, 10)

/** Groups by a text, in its order. */
function groupBy<T>(values: Iterable<T>, keyOf: (value: T) => string): [key: string, values: T[]][] {
  const groups = new Map<string, T[]>()
  for (const value of values) {
    const key = keyOf(value)
    groups.set(key, [...(groups.get(key) ?? []), value])
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1))
}

const big = (value: number) => BigInt(value)

interface Transfer {
  readonly log: Log
  readonly from: string
  readonly to: string
  readonly value: bigint
}

function transfersOf({ answers }: Chain): Transfer[] {
  const logs = answers.receipts.flat().flatMap((receipt) => receipt.logs)
  return logs
    .filter(({ topics, data }) => topics[0] === TRANSFER && topics.length === 3 && data.length === 66)
    .map((log) => {
      const [from, to] = log.topics.slice(1).map((topic) => `0x${topic.slice(26)}`)
      return { log, from, to, value: BigInt(log.data) }
    })
}

const blockOf = ({ answers }: Chain, { blockNumber }: Log) => answers.blocks[Number(blockNumber)]

question('Daily active addresses', 3, ({ answers }) =>
  groupBy(
    answers.blocks.filter(({ transactions }) => transactions.length > 0),
    dayOf,
  ).map(([day, blocks]) => {
    const transactions = blocks.flatMap((block) => block.transactions)
    const addresses = transactions.flatMap(({ from, to }) => (to === null ? [from] : [from, to]))
    return [day, big(new Set(addresses).size)]
  }),
)

question('Top holders of a token', 4, (chain) => {
  const balances = new Map<string, bigint>()
  const add = (holder: string, amount: bigint) => balances.set(holder, (balances.get(holder) ?? 0n) + amount)
  for (const { log, from, to, value } of transfersOf(chain)) {
    if (log.address !== chain.token) continue
    add(from, -value)
    add(to, value)
  }
  return [...balances]
    .filter(([holder, balance]) => holder !== ZERO && balance > 0n)
    .sort(([, a], [, b]) => (a < b ? 1 : -1))
    .slice(0, 20)
    .map(([holder, balance]) => [holder, `${balance}`])
})

question('Transfers of an address', 3, (chain) => {
  const addressOf = (topic: string) => `0x${topic.slice(26)}`
  return chain.answers.receipts.flat().flatMap(({ logs }) =>
    logs.flatMap((log) => {
      const { topics, data, address } = log
      const isErc20 = topics.length === 3 && data.length === 66
      const isErc721 = topics.length === 4 && data === '0x'
      if (topics[0] !== TRANSFER || !(isErc20 || isErc721)) return []
      const [from, to] = [addressOf(topics[1]), addressOf(topics[2])]
      if (from !== chain.holder && to !== chain.holder) return []
      const { timestamp } = blockOf(chain, log)
      const place = [BigInt(log.blockNumber), BigInt(timestamp), log.transactionHash, BigInt(log.logIndex), address]
      const unit = isErc20
        ? ['erc20', null, from, to, `${BigInt(data)}`]
        : ['erc721', `${BigInt(topics[3])}`, from, to, '1']
      return [[...place, ...unit]]
    }),
  )
})

question('Gas by contract', 3, async ({ answers }) => {
  const called = answers.receipts.flat().filter(({ to }) => to !== null)
  const rows: [string, bigint, bigint][] = []
  for (const [contract, receipts] of groupBy(called, ({ to }) => to!)) {
    const last = receipts.at(-1)!.blockNumber
    if ((await answers.call('eth_getCode', [contract, last])) === '0x') continue
    rows.push([contract, big(receipts.length), receipts.reduce((sum, { gasUsed }) => sum + BigInt(gasUsed), 0n)])
  }
  return rows.sort(([, , a], [, , b]) => (a < b ? 1 : -1))
})

/** A call of callTracer. */
interface Frame {
  type: string
  from: string
  to: string
  value?: string
  error?: string
  calls?: Frame[]
}

/** A call that took effect. */
interface Effect extends Frame {
  readonly block: bigint
  readonly hash: string
  readonly depth: number
  readonly sender: string
}

/** All calls that took effect by debug_traceBlockByNumber, in the order in which they began. */
async function effectsOf({ context, head }: TracedChain): Promise<Effect[]> {
  const effects: Effect[] = []
  for (let number = 1; number <= head; number++) {
    const params = [`0x${number.toString(16)}`, { tracer: 'callTracer' }]
    const traced = await callMethod<{ txHash: string; result: Frame }[]>(context, 'debug_traceBlockByNumber', params)
    const visit = (frame: Frame, of: Pick<Effect, 'hash' | 'sender'>, depth: number) => {
      if (frame.error !== undefined) return
      effects.push({ ...frame, ...of, block: BigInt(number), depth })
      for (const call of frame.calls ?? []) visit(call, of, depth + 1)
    }
    for (const { txHash, result } of traced) visit(result, { hash: txHash, sender: result.from }, 0)
  }
  return effects
}

const TRANSFER_TYPES: { readonly [type: string]: string } = {
  CALL: 'call',
  CREATE: 'create',
  CREATE2: 'create',
  SELFDESTRUCT: 'suicide',
}

tracedQuestion('Internal transfers of an address', 20, async (chain) => {
  const moves = (await effectsOf(chain)).filter(
    ({ type, value = '0x0' }) => type in TRANSFER_TYPES && BigInt(value) > 0n,
  )
  return groupBy(moves, ({ block }) => String(block).padStart(10, '0')).flatMap(([, ofBlock]) =>
    ofBlock.flatMap(({ depth, type, from, to, value, block, hash }, index) => {
      if (depth === 0 || (from !== chain.holder && to !== chain.holder)) return []
      return [[block, hash, big(index), TRANSFER_TYPES[type], from, to, `${BigInt(value!)}`]]
    }),
  )
})

tracedQuestion('Contracts of a deployer', 20, async (chain) => {
  const creations = (await effectsOf(chain)).filter(({ type }) => type === 'CREATE' || type === 'CREATE2')
  const own = new Set<string>()
  const isOwn = ({ sender, from, depth }: Effect) => sender === chain.deployer || (depth > 0 && own.has(from))
  for (let before = -1; before !== own.size; ) {
    before = own.size
    for (const creation of creations) if (isOwn(creation)) own.add(creation.to)
  }
  return creations
    .filter(isOwn)
    .map(({ block, to, sender, depth, from }) => [block, to, sender, depth === 0 ? null : from])
})

/** What `cairn_getDecodedTransaction` says of a failed transaction. */
interface Described {
  failure: { reason: string } | null
}

question('Reverted transactions', 5, async ({ answers }) => {
  const failed = answers.receipts.flat().filter(({ status }) => status === '0x0')
  const rows: unknown[][] = []
  for (const { blockNumber, transactionIndex, transactionHash, to } of failed) {
    const { failure } = await answers.call<Described>('cairn_getDecodedTransaction', [transactionHash])
    rows.push([BigInt(blockNumber), BigInt(transactionIndex), transactionHash, to, lowerAddresses(failure!.reason)])
  }
  return rows
})

/** Without the checksums of addresses, which SQL does not have. */
const lowerAddresses = (text: string) => text.replace(/\b0x[0-9a-fA-F]{40}\b/g, (address) => address.toLowerCase())

question('Calls of a contract', 8, ({ answers, token }) => {
  const calls = answers.blocks.flatMap(({ number, transactions }) =>
    transactions.flatMap((transaction, index) => ({ ...transaction, number: BigInt(number), index: BigInt(index) })),
  )
  const statusOf = new Map(
    answers.receipts
      .flat()
      .map(({ transactionHash, status }) => [transactionHash, status === undefined ? null : BigInt(status)]),
  )
  return calls
    .filter(({ to, input }) => to === token && input !== '0x')
    .map(({ hash, number, index, from, input }) => [number, index, from, ...decodeByViem(input), statusOf.get(hash)])
})

/** The function and its arguments as JSON, by viem. */
function decodeByViem(input: Hex): [name: string | null, args: string | null] {
  const selector = input.length < 10 ? null : input.slice(0, 10)
  const item = TOKEN_ABI.find((each) => toFunctionSelector(each) === selector)
  if (item === undefined) return [selector, null]
  const { args } = decodeFunctionData({ abi: [item], data: input })
  const named = item.inputs.map(({ name }, i) => [name, String(args?.[i]).toLowerCase()])
  return [toFunctionSignature(item), JSON.stringify(Object.fromEntries(named))]
}

question('Balance of an address at a block', 1, async ({ answers, holder }) => {
  const balance = await answers.call<string>('eth_getBalance', [holder, '0x28'])
  return [[`${BigInt(balance)}`]]
})

question('New accounts a day', 3, ({ answers }) => {
  const isEmpty = ({ balance, nonce, code }: { balance: string; nonce: number; code: string }) =>
    balance === '0' && nonce === 0 && code === '0x'
  const firsts = [...answers.accounts.values()].map((states) => states.findIndex((state) => !isEmpty(state)))
  const blocks = firsts.filter((block) => block >= 0).map((block) => answers.blocks[block])
  return groupBy(blocks, dayOf).map(([day, of]) => [day, big(of.length)])
})

question('Volume of a token', 3, (chain) =>
  groupBy(
    transfersOf(chain).filter(({ log }) => log.address === chain.token),
    ({ log }) => dayOf(blockOf(chain, log)),
  ).map(([day, transfers]) => [day, big(transfers.length), `${transfers.reduce((sum, { value }) => sum + value, 0n)}`]),
)

question('Moving average of the base fee', 50, ({ answers }) => {
  const fees = answers.blocks.flatMap(({ number, baseFeePerGas }) =>
    baseFeePerGas === undefined ? [] : [{ number: BigInt(number), fee: BigInt(baseFeePerGas) }],
  )
  return fees.map(({ number, fee }, i) => {
    const window = fees.slice(Math.max(0, i - 19), i + 1)
    return [number, fee, Number(window.reduce((sum, each) => sum + each.fee, 0n)) / window.length]
  })
})

question('Owners of an NFT collection', 3, ({ answers, collection }) => {
  const owners = new Map<string, string>()
  for (const { address, topics, data } of answers.receipts.flat().flatMap((receipt) => receipt.logs)) {
    if (address !== collection || topics[0] !== TRANSFER || topics.length !== 4 || data !== '0x') continue
    owners.set(`${BigInt(topics[3])}`, `0x${topics[2].slice(26)}`)
  }
  return [...owners].filter(([, owner]) => owner !== ZERO).sort(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1))
})

question('Withdrawals and blobs a day', 3, ({ answers }) =>
  groupBy(answers.blocks, dayOf).map(([day, blocks]) => {
    const withdrawals = blocks.flatMap((block) => block.withdrawals ?? [])
    const amount = withdrawals.reduce((sum, each) => sum + BigInt(each.amount) * 10n ** 9n, 0n)
    const blobs = blocks.flatMap(({ transactions }) => transactions.flatMap((each) => each.blobVersionedHashes ?? []))
    return [day, big(withdrawals.length), `${amount}`, big(blobs.length)]
  }),
)

const SWAP = keccak256(toHex('Swap(address,uint256,uint256,uint256,uint256,address)'))

question('Swaps of a pair', 3, ({ answers, token }) =>
  answers.receipts
    .flat()
    .flatMap(({ logs }) => logs)
    .filter(({ address, topics, data }) => address === token && topics[0] === SWAP && data.length === 258)
    .map(({ blockNumber, transactionHash, topics, data }) => {
      const parties = topics.slice(1).map((topic) => `0x${topic.slice(26)}`)
      const amounts = Array.from({ length: 4 }, (_, i) => `${BigInt(`0x${data.slice(2 + 64 * i, 66 + 64 * i)}`)}`)
      return [BigInt(blockNumber), transactionHash, ...parties, ...amounts]
    }),
)

test('each question of the page is compared', () => {
  const headings = Array.from(page.matchAll(/^## (.+)$/gm), ([, heading]) => heading)
  assert.deepEqual(headings, [...covered])
  assert.ok(headings.every((heading) => page.includes(`- [${heading}](#`)))
})
