import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createTestClient,
  defineChain,
  getAddress,
  getContractAddress,
  http,
  keccak256,
  parseAbi,
  publicActions,
  toHex,
  walletActions,
} from 'viem'
import { formatQuantity } from '../../../src/lib/hex.js'
import { COUNTER_INIT } from '../../../tools/fixture/contracts.js'
import { serveFixture, spawnProgram } from '../../support/cairn.js'
import * as fixture from '../../support/chains/fixtureChain.js'
import { resultOf } from '../../support/rpcClient.js'
import { findFoundry } from '../../support/upstream/foundry.js'
import { findHardhat, startHardhat } from '../../support/upstream/hardhat.js'

/* Forks of a chain that Cairn serves, as tests of contracts start them: anvil and Hardhat read all state that they run
 * transactions on from Cairn. */

const server = await serveFixture({ after })
const anvil = findFoundry('anvil')
const hardhat = findHardhat()

const abi = parseAbi(fixture.ABI)
const cairn = createPublicClient({ transport: http(server.url) })
const HEIGHTS = [fixture.AMSTERDAM - 1, fixture.HEAD]
type Started = (t: TestContext, url: string, blockNumber: number) => Promise<string>

/** Ends the program with the test. */
function start(t: TestContext, path: string, args: readonly string[]) {
  const { child, ended, waitFor } = spawnProgram(path, args)
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return waitFor
}

const startAnvil: Started = async (t, url, blockNumber) => {
  const args = ['--port', '0', '--fork-url', url, '--fork-block-number', String(blockNumber)]
  const [, address] = await start(t, anvil!, args)('stdout', /Listening on (\S+)/)
  return `http://${address}`
}

/** First blocks of the forks by the names that Hardhat has for them; it knows none after Prague. */
const HARDFORKS = {
  ...{ byzantium: 11, constantinople: 15, petersburg: 17, istanbul: 19, muirGlacier: 21, berlin: 22, london: 25 },
  ...{ arrowGlacier: 27, grayGlacier: 28, merge: 30, shanghai: 33, cancun: 36, prague: 40 },
}

const startForkingHardhat: Started = async (t, url, blockNumber) => {
  const chains = { [fixture.CHAIN_ID]: { hardforkHistory: HARDFORKS } }
  return startHardhat(t, hardhat!, { chainId: fixture.CHAIN_ID, chains, forking: { url, blockNumber } })
}

const PROGRAMS = [
  { mode: 'anvil', path: anvil, url: server.url, start: startAnvil },
  { mode: 'anvil', path: anvil, url: server.socketUrl, start: startAnvil },
  { mode: 'hardhat', path: hardhat, url: server.url, start: startForkingHardhat },
] as const

for (const program of PROGRAMS) {
  for (const height of HEIGHTS) {
    const skip = program.path === undefined && `${program.mode} cannot be installed`
    const scheme = new URL(program.url).protocol
    test(`${program.mode} forks Cairn at block ${height} over ${scheme} and runs calls and transactions on its state`, {
      skip,
    }, async (t) => {
      const before = await cairnState()
      const url = await program.start(t, program.url, height)
      const fork = openFork(program.mode, url)
      await checkHistory(fork, height)
      await checkCalls(fork, height)
      await checkTransactions(fork, height)
      if (program.mode === 'anvil') await checkTraces(url)
      await fork.reset({ jsonRpcUrl: program.url, blockNumber: 43n })
      assert.equal(await fork.getBlockNumber({ cacheTime: 0 }), 43n)
      const code = await fork.getCode({ address: fixture.DELEGATOR })
      assert.equal(code, `0xef0100${fixture.TOKEN.slice(2)}`)
      assert.deepEqual(await cairnState(), before)
    })
  }
}

function openFork(mode: 'anvil' | 'hardhat', url: string) {
  const chain = defineChain({
    id: fixture.CHAIN_ID,
    name: 'a fork of the fixture',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  return createTestClient({ mode, chain, transport: http(url), pollingInterval: 20 })
    .extend(publicActions)
    .extend(walletActions)
}

type Fork = ReturnType<typeof openFork>

const HOLDERS = [fixture.ALICE, fixture.BOB, fixture.CAROL] as const
const ACCOUNTS = [
  ...HOLDERS,
  ...[fixture.TOKEN, fixture.EMITTER, fixture.FACTORY, fixture.CHILD, fixture.COUNTER, fixture.ABSENT_ACCOUNT],
] as const

/** What a fork must not change. */
async function cairnState() {
  return {
    head: await cairn.getBlock(),
    balances: await Promise.all(ACCOUNTS.map((address) => cairn.getBalance({ address }))),
    stones: await Promise.all(HOLDERS.map((holder) => stonesOf(cairn, holder))),
  }
}

type Reader = Pick<Fork, 'readContract'>

function stonesOf(client: Reader, holder: `0x${string}`, blockNumber?: bigint): Promise<bigint> {
  return client.readContract({ abi, address: fixture.TOKEN, functionName: 'balanceOf', args: [holder], blockNumber })
}

/** The holder's balance of the token after a block, by the story of the chain. */
function stonesAfter(holder: string, block: number): bigint {
  return fixture.TRANSFERS.filter((each) => each.block <= block).reduce(
    (sum, { from, to, value }) => sum + (to === holder ? value : 0n) - (from === holder ? value : 0n),
    0n,
  )
}

/** Accounts, blocks, transactions of all types, receipts and logs that the fork takes from Cairn. */
async function checkHistory(fork: Fork, height: number): Promise<void> {
  const blockNumber = BigInt(height)
  assert.equal(await fork.getChainId(), fixture.CHAIN_ID)
  assert.equal(await fork.getBlockNumber({ cacheTime: 0 }), blockNumber)
  for (const address of ACCOUNTS) {
    assert.equal(await fork.getBalance({ address }), await cairn.getBalance({ address, blockNumber }))
    assert.equal(await fork.getTransactionCount({ address }), await cairn.getTransactionCount({ address, blockNumber }))
    assert.equal(await fork.getCode({ address }), await cairn.getCode({ address, blockNumber }))
  }
  const slot = toHex(2, { size: 32 })
  const supply = await fork.getStorageAt({ address: fixture.TOKEN, slot })
  assert.equal(supply, await cairn.getStorageAt({ address: fixture.TOKEN, slot, blockNumber }))
  for (const number of [1n, 8n, 22n, 25n, 34n, 37n, 40n]) {
    const [found, expected] = [
      await fork.getBlock({ blockNumber: number, includeTransactions: true }),
      await cairn.getBlock({ blockNumber: number, includeTransactions: true }),
    ]
    assert.equal(found.hash, expected.hash)
    for (const [index, { hash, type, from, to, value, input }] of expected.transactions.entries()) {
      const transaction = await fork.getTransaction({ hash })
      assert.deepEqual(
        [transaction.hash, transaction.type, transaction.from, transaction.to, transaction.value, transaction.input],
        [hash, type, from, to, value, input],
      )
      assert.equal(found.transactions[index].hash, hash)
      const [receipt, wanted] = [
        await fork.getTransactionReceipt({ hash }),
        await cairn.getTransactionReceipt({ hash }),
      ]
      assert.deepEqual([receipt.gasUsed, receipt.contractAddress], [wanted.gasUsed, wanted.contractAddress])
      assert.deepEqual(receipt.logs.map(logFields), wanted.logs.map(logFields))
    }
  }
}

function logFields({
  address,
  topics,
  data,
  logIndex,
}: {
  address: string
  topics: string[]
  data: string
  logIndex: number
}) {
  return [address.toLowerCase(), topics, data, logIndex]
}

/** Calls on the forked state and on older ones. */
async function checkCalls(fork: Fork, height: number): Promise<void> {
  const token = { abi, address: fixture.TOKEN } as const
  assert.equal(await fork.readContract({ ...token, functionName: 'name' }), 'Cairn Stone')
  for (const holder of HOLDERS) assert.equal(await stonesOf(fork, holder), stonesAfter(holder, height))
  // Hardhat makes no call of type 0, and so none before London.
  for (const block of [25, 26, 30, 31]) {
    assert.equal(await stonesOf(fork, fixture.BOB, BigInt(block)), stonesAfter(fixture.BOB, block))
  }
  const refused = fork.readContract({ abi, address: fixture.REVERTER, functionName: 'failString' })
  const error: unknown = await refused.catch((thrown: unknown) => thrown)
  assert.ok(error instanceof BaseError, String(error))
  const revert = error.walk((each) => each instanceof ContractFunctionRevertedError)
  assert.ok(revert instanceof ContractFunctionRevertedError, error.message)
  assert.equal(revert.reason, 'not allowed')
}

const SENT = 7n

/** Transactions on the forked state: of an account of the chain, which the fork impersonates, and of one of the fork's
 *  own. */
async function checkTransactions(fork: Fork, height: number): Promise<void> {
  const [alice, bob] = [stonesAfter(fixture.ALICE, height), stonesAfter(fixture.BOB, height)]
  const nonce = await fork.getTransactionCount({ address: fixture.ALICE })
  await fork.impersonateAccount({ address: fixture.ALICE })
  const transfer = {
    abi,
    address: fixture.TOKEN,
    functionName: 'transfer',
    args: [fixture.ABSENT_ACCOUNT, SENT],
  } as const
  const sent = await fork.writeContract({ ...transfer, account: fixture.ALICE, chain: null })
  const receipt = await fork.waitForTransactionReceipt({ hash: sent })
  assert.deepEqual([receipt.status, receipt.blockNumber], ['success', BigInt(height) + 1n])
  assert.deepEqual(
    [
      await stonesOf(fork, fixture.ALICE),
      await stonesOf(fork, fixture.BOB),
      await stonesOf(fork, fixture.ABSENT_ACCOUNT),
    ],
    [alice - SENT, bob, SENT],
  )
  assert.equal(await stonesOf(fork, fixture.ALICE, BigInt(height)), alice)
  assert.equal(await fork.getTransactionCount({ address: fixture.ALICE }), nonce + 1)
  const event = { abi, address: fixture.TOKEN, eventName: 'Transfer', strict: true } as const
  const transfers = await fork.getContractEvents({ ...event, fromBlock: 0n, toBlock: 'latest' })
  assert.deepEqual(
    transfers.map(({ args }) => args.value),
    [...fixture.TRANSFERS.map(({ value }) => value), SENT],
  )

  const [account] = await fork.getAddresses()
  const ether = await fork.getBalance({ address: fixture.BOB })
  const paid = await fork.sendTransaction({ account, to: fixture.BOB, value: fixture.ETHER, chain: null })
  await fork.waitForTransactionReceipt({ hash: paid })
  assert.equal(await fork.getBalance({ address: fixture.BOB }), ether + fixture.ETHER)

  const salt = toHex(9, { size: 32 })
  const made = getContractAddress({ opcode: 'CREATE2', from: fixture.FACTORY, salt, bytecode: toHex(COUNTER_INIT) })
  assert.equal(await fork.getCode({ address: made }), undefined)
  const create = await fork.sendTransaction({ account, to: fixture.FACTORY, data: salt, gas: 500_000n, chain: null })
  await fork.waitForTransactionReceipt({ hash: create })
  const [code, expected] = await Promise.all(
    [made, fixture.CHILD].map((address) => fork.getCode({ address: address as `0x${string}` })),
  )
  assert.equal(keccak256(code!), keccak256(expected!))
  const count = await fork.sendTransaction({ account, to: made, chain: null })
  const { logs } = await fork.waitForTransactionReceipt({ hash: count })
  assert.deepEqual([getAddress(logs[0].address), BigInt(logs[0].data)], [made, 1n])
  assert.equal(BigInt((await fork.getStorageAt({ address: made, slot: '0x0' }))!), 1n)

  await fork.setBalance({ address: fixture.ABSENT_ACCOUNT, value: 5n })
  await fork.mine({ blocks: 3 })
  assert.equal(await fork.getBalance({ address: fixture.ABSENT_ACCOUNT }), 5n)
  assert.equal(await fork.getBlockNumber({ cacheTime: 0 }), BigInt(height) + 7n)
}

/** Traces of the chain's own transactions, which anvil forwards. */
async function checkTraces(url: string): Promise<void> {
  const { transactions } = await cairn.getBlock({ blockNumber: 20n })
  for (const hash of transactions) {
    for (const [method, ...params] of [
      ['debug_traceTransaction', hash, { tracer: 'callTracer' }],
      ['trace_transaction', hash],
    ] as const) {
      const [found, expected] = [await resultOf(url, method, params), await resultOf(server.url, method, params)]
      assert.deepEqual(found, expected)
    }
  }
  const number = formatQuantity(34)
  assert.deepEqual(await resultOf(url, 'trace_block', [number]), await resultOf(server.url, 'trace_block', [number]))
}
