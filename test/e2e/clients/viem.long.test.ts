import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  createPublicClient,
  decodeFunctionResult,
  defineChain,
  encodeAbiParameters,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  http,
  keccak256,
  type PublicClient,
  parseAbi,
  toHex,
  webSocket,
} from 'viem'
import { encodeBlock } from '../../../src/chain/eth/block.js'
import { encodeTransaction } from '../../../src/chain/eth/transaction.js'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { serveFixture } from '../../support/cairn.js'
import * as fixture from '../../support/chains/fixtureChain.js'
import {
  blockHash,
  type Operation,
  rawBlock,
  rawTransaction,
  testScript,
  transactionHash,
  transactionHashes,
  verifyProof,
} from '../../support/clientScript.js'

/* A script of what viem can ask a read node for. */

const server = await serveFixture({ after })
const abi = parseAbi(fixture.ABI)
const chain = defineChain({
  id: fixture.CHAIN_ID,
  name: 'Cairn fixture',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [server.url] } },
})
const socket = webSocket(server.socketUrl, { reconnect: false, keepAlive: false, retryCount: 0 })
const CLIENTS: [string, PublicClient][] = [
  ['HTTP', createPublicClient({ chain, transport: http(server.url, { retryCount: 0 }) })],
  ['HTTP in batches', createPublicClient({ chain, transport: http(server.url, { retryCount: 0, batch: true }) })],
  ['WebSocket', createPublicClient({ chain, transport: socket })],
]
after(async () => (await socket({ chain }).value!.getRpcClient()).close())

const { ALICE, BOB, CAROL, ETHER, HEAD, ABSENT_ACCOUNT, TOKEN, TRANSFERS } = fixture
const token = { abi, address: TOKEN } as const
const reverter = { abi, address: fixture.REVERTER, account: CAROL } as const
const transferEvent = getAbiItem({ abi, name: 'Transfer' })
const numberedEvent = getAbiItem({ abi, name: 'Numbered' })
const BEFORE_AMSTERDAM = BigInt(fixture.AMSTERDAM - 1)
/** A time after all forks. */
const FAR = 4_000_000_000n
const UNKNOWN = `0x${'ab'.repeat(32)}` as const
const toBob = { ...token, functionName: 'transfer', args: [BOB, 1n] } as const
const transferData = encodeFunctionData(toBob)
/** Where the token keeps the balance of an account. */
const balanceSlot = (holder: Hex) =>
  keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [holder, 0n]))
const word = (value: bigint) => toHex(value, { size: 32 })
const balanceOf = (client: PublicClient, holder: Hex, blockNumber?: bigint) =>
  client.readContract({ ...token, functionName: 'balanceOf', args: [holder], blockNumber })
/** Any method, by its name. */
const ask = (client: PublicClient, method: string, ...params: unknown[]) =>
  client.request({ method, params } as never) as Promise<unknown>
// biome-ignore lint/suspicious/noExplicitAny: what a client returned
type Any = any

const BLOCKS: Operation<PublicClient>[] = [
  ['chain id', (c) => c.getChainId(), fixture.CHAIN_ID],
  ['number of the head', (c) => c.getBlockNumber({ cacheTime: 0 }), BigInt(HEAD)],
  ['latest block', async (c) => (await c.getBlock()).hash, blockHash(HEAD)],
  ['safe block', async (c) => (await c.getBlock({ blockTag: 'safe' })).hash, blockHash(HEAD)],
  ['finalized block', async (c) => (await c.getBlock({ blockTag: 'finalized' })).hash, blockHash(HEAD)],
  [
    'first block',
    async (c) => (await c.getBlock({ blockTag: 'earliest' })).hash,
    formatData(rawBlock(1).header.parentHash),
  ],
  ['pending block', async (c) => (await c.getBlock({ blockTag: 'pending' })).parentHash, blockHash(HEAD)],
  [
    'block by number',
    (c) => c.getBlock({ blockNumber: 37n }),
    (block: Any) => {
      const { header, hash, sizeBytes } = rawBlock(37)
      assert.deepEqual(
        [
          block.hash,
          block.stateRoot,
          block.gasUsed,
          block.baseFeePerGas,
          block.timestamp,
          block.size,
          block.blobGasUsed,
        ],
        [
          ...[formatData(hash), formatData(header.stateRoot), header.gasUsed, header.baseFeePerGas, header.timestamp],
          ...[BigInt(sizeBytes), header.blobGasUsed],
        ],
      )
    },
  ],
  ['block by hash', async (c) => (await c.getBlock({ blockHash: blockHash(22) })).number, 22n],
  [
    'block with its transactions',
    async (c) =>
      (await c.getBlock({ blockNumber: 21n, includeTransactions: true })).transactions.map(({ hash }) => hash),
    transactionHashes(21),
  ],
  [
    'withdrawals',
    async (c) => (await c.getBlock({ blockNumber: 33n })).withdrawals!.length,
    rawBlock(33).withdrawals!.length,
  ],
  ['unknown block', (c) => c.getBlock({ blockHash: UNKNOWN }), /could not be found/],
  ['number of transactions', (c) => c.getBlockTransactionCount({ blockNumber: 21n }), transactionHashes(21).length],
  ['number of transactions by hash', (c) => c.getBlockTransactionCount({ blockHash: blockHash(18) }), 2],
  ['number of pending transactions', (c) => c.getBlockTransactionCount({ blockTag: 'pending' }), 0],
  [
    'uncle',
    (c) => ask(c, 'eth_getUncleByBlockNumberAndIndex', '0xd', '0x0'),
    (uncle: Any) => assert.equal(uncle.stateRoot, formatData(rawBlock(13).uncles[0].stateRoot)),
  ],
  ['raw block', (c) => ask(c, 'debug_getRawBlock', '0x25'), formatData(encodeBlock(rawBlock(37)))],
  [
    'every new block from now on',
    (c) =>
      new Promise((resolve, reject) => {
        const options = { emitOnBegin: true, poll: true, pollingInterval: 10 } as const
        const stop = c.watchBlockNumber({ ...options, onBlockNumber: resolve, onError: reject })
        after(stop)
      }),
    BigInt(HEAD),
  ],
]

/** The members of a transaction that all types have. */
function transactionFields({ hash, from, to, nonce, gas, value, input }: Any) {
  return { hash, from, to, nonce, gas, value, input }
}

function expectedTransaction(number: number, index = 0) {
  const { hash, from, to, nonce, gasLimit, value, input } = rawTransaction(number, index)
  return {
    ...{ hash: formatData(hash), from: formatData(from), to: to ? formatData(to) : null },
    ...{ nonce: Number(nonce), gas: gasLimit, value, input: formatData(input) },
  }
}

/** A transaction of each type, by a block that has one. */
const TYPES = { 'legacy without a chain id': 1, legacy: 8, eip2930: 22, eip1559: 25, eip4844: 37, eip7702: 40 }

const TRANSACTIONS: Operation<PublicClient>[] = [
  ...Object.entries(TYPES).map(
    ([type, number]): Operation<PublicClient> => [
      `transaction: ${type}`,
      async (c) => {
        const found = await c.getTransaction({ hash: transactionHash(number) })
        return { type: found.type, ...transactionFields(found) }
      },
      { type: type.split(' ')[0], ...expectedTransaction(number) },
    ],
  ),
  [
    'transaction by block and index',
    async (c) => transactionFields(await c.getTransaction({ blockNumber: 21n, index: 3 })),
    expectedTransaction(21, 3),
  ],
  [
    'transaction by block hash and index',
    async (c) => transactionFields(await c.getTransaction({ blockHash: blockHash(31), index: 1 })),
    expectedTransaction(31, 1),
  ],
  ['unknown transaction', (c) => c.getTransaction({ hash: UNKNOWN }), /could not be found/],
  ['confirmations', (c) => c.getTransactionConfirmations({ hash: transactionHash(22) }), BigInt(HEAD - 22 + 1)],
  [
    'receipt before Byzantium',
    async (c) => (await c.getTransactionReceipt({ hash: transactionHash(2) })).contractAddress,
    fixture.EMITTER,
  ],
  [
    'receipt of a failed transaction',
    (c) => c.getTransactionReceipt({ hash: transactionHash(21, 4) }),
    ({ status, gasUsed, logs }: Any) =>
      assert.deepEqual([status, gasUsed, logs], ['reverted', rawTransaction(21, 4).gasLimit, []]),
  ],
  [
    'receipt of a transaction with blobs',
    async (c) => (await c.getTransactionReceipt({ hash: transactionHash(37) })).blobGasUsed,
    rawBlock(37).header.blobGasUsed,
  ],
  [
    'receipt as soon as it is there',
    async (c) => (await c.waitForTransactionReceipt({ hash: transactionHash(25) })).gasUsed,
    rawBlock(25).header.gasUsed,
  ],
  ['unknown receipt', (c) => c.getTransactionReceipt({ hash: UNKNOWN }), /could not be found/],
  [
    'receipts of a block',
    async (c) => ((await ask(c, 'eth_getBlockReceipts', '0x15')) as Any[]).map(({ transactionHash: hash }) => hash),
    transactionHashes(21),
  ],
  [
    'raw transaction',
    (c) => ask(c, 'debug_getRawTransaction', transactionHash(40)),
    formatData(encodeTransaction(rawTransaction(40))),
  ],
  [
    'send a transaction',
    (c) => c.sendRawTransaction({ serializedTransaction: formatData(encodeTransaction(rawTransaction(22))) as Hex }),
    /--forward-transactions/,
  ],
]

const values = (logs: readonly { args: { value: bigint } }[]) => logs.map(({ args }) => args.value)
const valuesOf = (transfers: readonly fixture.FixtureTransfer[]) => transfers.map(({ value }) => value)

const LOGS: Operation<PublicClient>[] = [
  [
    'logs of an event',
    async (c) => values(await c.getContractEvents({ ...token, eventName: 'Transfer', fromBlock: 0n, strict: true })),
    valuesOf(TRANSFERS),
  ],
  [
    'logs by an argument',
    async (c) => {
      const args = { to: [BOB, CAROL] as Hex[] }
      return values(await c.getLogs({ event: transferEvent, args, fromBlock: 20n, toBlock: 31n, strict: true }))
    },
    valuesOf(TRANSFERS.filter(({ to, block }) => [BOB, CAROL].some((each) => each === to) && block <= 31)),
  ],
  [
    'logs of several events',
    async (c) => {
      const logs = await c.getLogs({ events: [transferEvent, numberedEvent], fromBlock: 15n, toBlock: 34n })
      return logs.filter(({ eventName }) => eventName === 'Transfer').length
    },
    TRANSFERS.length,
  ],
  ['logs of a block', async (c) => (await c.getLogs({ blockHash: blockHash(31) })).length, 2],
  ['too many logs', (c) => c.getLogs({ fromBlock: 0n, toBlock: 60n }), /query returned more than 10000 results/],
  ['logs of an unknown block', (c) => c.getLogs({ blockHash: UNKNOWN }), /unknown block/],
  [
    'filter of an event',
    async (c) => {
      const filter = await c.createContractEventFilter({ ...token, eventName: 'Transfer', fromBlock: 0n, strict: true })
      return [
        values(await c.getFilterLogs({ filter })),
        await c.getFilterChanges({ filter }),
        await c.uninstallFilter({ filter }),
      ]
    },
    [valuesOf(TRANSFERS), [], true],
  ],
  [
    'filter of logs',
    async (c) => {
      const filter = await c.createEventFilter({ address: TOKEN, fromBlock: 22n, toBlock: 26n })
      return (await c.getFilterLogs({ filter })).length
    },
    TRANSFERS.filter(({ block }) => block >= 22 && block <= 26).length,
  ],
  ['filter of blocks', async (c) => c.getFilterChanges({ filter: await c.createBlockFilter() }), []],
  [
    'filter of pending transactions',
    async (c) => c.getFilterChanges({ filter: await c.createPendingTransactionFilter() }),
    [],
  ],
  [
    'removed filter',
    async (c) => {
      const filter = await c.createBlockFilter()
      await c.uninstallFilter({ filter })
      return c.getFilterChanges({ filter })
    },
    /filter not found/,
  ],
]

const CALLS: Operation<PublicClient>[] = [
  ['read a contract', (c) => c.readContract({ ...token, functionName: 'name' }), 'Cairn Stone'],
  ['read it at a height', (c) => balanceOf(c, BOB, 26n), 25n * ETHER - ETHER],
  [
    'read it at a tag',
    (c) => c.readContract({ ...token, functionName: 'totalSupply', blockTag: 'finalized' }),
    1000n * ETHER,
  ],
  ['read it before it was there', (c) => balanceOf(c, BOB, 14n), /returned no data/],
  ['read it after the head', (c) => balanceOf(c, BOB, BigInt(HEAD + 1)), /header not found/],
  [
    'read several contracts at once',
    async (c) => {
      const contracts = [ALICE, BOB, CAROL].map(
        (holder) => ({ ...token, functionName: 'balanceOf', args: [holder] }) as const,
      )
      const failing = { ...reverter, functionName: 'failString' } as const
      const all = await c.multicall({ contracts: [...contracts, failing], deployless: true })
      return all.map(({ status, result }) => result ?? status)
    },
    [fixture.BALANCES[ALICE], fixture.BALANCES[BOB], fixture.BALANCES[CAROL], 'failure'],
  ],
  [
    'call with its data',
    async (c) => {
      const data = encodeFunctionData({ abi, functionName: 'symbol' })
      return decodeFunctionResult({ abi, functionName: 'symbol', data: (await c.call({ to: TOKEN, data })).data! })
    },
    'STONE',
  ],
  [
    'call code that is not there',
    async (c) => (await c.call({ code: '0x67602a5f5260205ff35f5260086018f3', data: '0x' })).data, // deploys code that returns 42
    word(42n),
  ],
  [
    'call with a changed state',
    (c) =>
      c.readContract({
        ...token,
        functionName: 'balanceOf',
        args: [ABSENT_ACCOUNT],
        stateOverride: [{ address: TOKEN, stateDiff: [{ slot: balanceSlot(ABSENT_ACCOUNT), value: word(77n) }] }],
      }),
    77n,
  ],
  [
    'call with changed code and balance',
    async (c) => {
      const change = { address: ABSENT_ACCOUNT, balance: 5n, code: '0x475f5260205ff3' } as const // returns its balance
      return (await c.call({ to: ABSENT_ACCOUNT, stateOverride: [change] })).data
    },
    word(5n),
  ],
  [
    'call in a changed block',
    async (c) => {
      const change = { address: ABSENT_ACCOUNT, code: '0x425f5260205ff3' } as const // returns the time
      return (await c.call({ to: ABSENT_ACCOUNT, stateOverride: [change], blockOverrides: { time: FAR } })).data
    },
    word(FAR),
  ],
  [
    'call delegated code',
    (c) => c.readContract({ abi, address: fixture.DELEGATOR, functionName: 'decimals', blockNumber: 45n }),
    18,
  ],
  ['code of a delegation', (c) => c.getCode({ address: fixture.AMSTERDAM_DELEGATOR }), `0xef0100${TOKEN.slice(2)}`],
  ['simulate a transaction', async (c) => (await c.simulateContract({ ...toBob, account: ALICE })).result, true],
  ['simulate one that fails', (c) => c.simulateContract({ ...toBob, account: ABSENT_ACCOUNT }), /insufficient balance/],
  ['reason of a revert', (c) => c.readContract({ ...reverter, functionName: 'failString' }), /not allowed/],
  [
    'panic',
    (c) => c.readContract({ ...reverter, functionName: 'failPanic' }),
    /Arithmetic operation resulted in underflow or overflow/,
  ],
  [
    'error of the contract',
    (c) => c.readContract({ ...reverter, functionName: 'failCustom' }),
    /NotAllowed\(address caller, uint256 code\)\s*\(0x221BB027774BAB0dF7AF52d570F14821a7402Cba, 42\)/i,
  ],
  ['revert without a reason', (c) => c.readContract({ ...reverter, functionName: 'failEmpty' }), /reverted/],
  ['invalid instruction', (c) => c.readContract({ ...reverter, functionName: 'failInvalid' }), /invalid opcode/],
  [
    'signature of an account',
    async (c) => {
      const message = { address: ALICE, message: 'hello', signature: `0x${'11'.repeat(65)}` } as const
      return c.verifyMessage(message)
    },
    false,
  ],
  [
    'name of the Ethereum name service',
    (c) => c.getEnsAddress({ name: 'cairn.eth' }),
    /does not support contract "ensUniversalResolver"/,
  ],
]

const GAS: Operation<PublicClient>[] = [
  ['gas of a payment', (c) => c.estimateGas({ account: ALICE, to: BOB, value: 1n }), 21_000n],
  [
    'gas of a call, as the chain used it',
    (c) =>
      c.estimateContractGas({
        ...token,
        functionName: 'transfer',
        args: [CAROL, 3n],
        account: ALICE,
        blockNumber: 29n,
      } as Any),
    (gas: bigint) => {
      const { gasUsed } = rawBlock(30).header
      assert.ok(gas >= gasUsed && gas < gasUsed + gasUsed / 50n, `${gas} for ${gasUsed}`)
    },
  ],
  [
    'gas with a changed state',
    (c) =>
      c.estimateGas({
        account: ABSENT_ACCOUNT,
        to: BOB,
        value: 9n,
        stateOverride: [{ address: ABSENT_ACCOUNT, balance: 10n * ETHER }],
      }),
    21_000n,
  ],
  ['gas of what fails', (c) => c.estimateContractGas({ ...toBob, account: ABSENT_ACCOUNT }), /insufficient balance/],
  [
    'gas without the money',
    (c) => c.estimateGas({ account: ABSENT_ACCOUNT, to: BOB, value: ETHER }),
    /insufficient funds|exceeds the balance/,
  ],
  [
    'access list',
    async (c) =>
      (await c.createAccessList({ account: ALICE, to: TOKEN, data: transferData, blockNumber: BEFORE_AMSTERDAM }))
        .accessList,
    ([{ address, storageKeys }]: Any) => {
      assert.equal(address, TOKEN)
      assert.deepEqual([...storageKeys].sort(), [balanceSlot(ALICE), balanceSlot(BOB)].sort())
    },
  ],
  [
    'simulate blocks',
    (c) =>
      c.simulateBlocks({
        blocks: [
          { calls: [{ account: ALICE, to: ABSENT_ACCOUNT, value: 3n }] },
          { blockOverrides: { gasLimit: 1_000_000n }, calls: [{ ...toBob, to: TOKEN, account: ALICE } as Any] },
        ],
      }),
    (simulated: Any[]) => {
      const last = simulated.at(-1)
      assert.deepEqual([simulated[0].number, last.number], [BigInt(HEAD + 1), BigInt(HEAD + 2)])
      assert.deepEqual(
        [last.calls[0].status, last.calls[0].result, last.calls[0].logs.length, last.gasLimit],
        ['success', true, 1, 1_000_000n],
      )
    },
  ],
  [
    'simulate calls and what they move',
    (c) =>
      c.simulateCalls({
        account: ALICE,
        calls: [
          { to: BOB, value: 7n },
          { to: TOKEN, data: transferData },
        ],
        traceAssetChanges: true,
      }),
    ({ results, assetChanges }: Any) => {
      assert.deepEqual(
        results.map(({ status }: Any) => status),
        ['success', 'success'],
      )
      assert.deepEqual(
        assetChanges.map(({ value }: Any) => value.diff),
        [-7n, -1n],
      )
    },
  ],
  [
    'history of fees',
    (c) => c.getFeeHistory({ blockCount: 3, blockNumber: 27n, rewardPercentiles: [50] }),
    ({ baseFeePerGas, oldestBlock, gasUsedRatio }: Any) => {
      const headers = [25, 26, 27].map((number) => rawBlock(number).header)
      assert.deepEqual(
        baseFeePerGas.slice(0, 3),
        headers.map((each) => each.baseFeePerGas),
      )
      assert.deepEqual(
        gasUsedRatio,
        headers.map(({ gasUsed, gasLimit }) => Number(gasUsed) / Number(gasLimit)),
      )
      assert.equal(oldestBlock, 25n)
    },
  ],
  [
    'gas price',
    async (c) => (await c.getGasPrice()) - (await c.estimateMaxPriorityFeePerGas()),
    (baseFee: bigint) => assert.ok(baseFee > 0n && baseFee <= (rawBlock(HEAD).header.baseFeePerGas! * 9n) / 8n),
  ],
  ['priority fee', (c) => c.estimateMaxPriorityFeePerGas(), 1_000_000_000n],
  [
    'fees of the next transaction',
    async (c) => (await c.estimateFeesPerGas()).maxFeePerGas,
    1_000_000_000n + (rawBlock(HEAD).header.baseFeePerGas! * 12n) / 10n,
  ],
  ['price of blobs', (c) => c.getBlobBaseFee(), 1n],
  [
    'prepare a transaction',
    (c) => c.prepareTransactionRequest({ chain, account: ALICE, to: BOB, value: 1n }),
    ({ gas, chainId, type }: Any) => assert.deepEqual([gas, chainId, type], [21_000n, fixture.CHAIN_ID, 'eip1559']),
  ],
]

const firstPayment = rawTransaction(1)
const STATE: Operation<PublicClient>[] = [
  ['balance in the genesis', (c) => c.getBalance({ address: ALICE, blockTag: 'earliest' }), 1000n * ETHER],
  [
    'balance at a height',
    (c) => c.getBalance({ address: ALICE, blockNumber: 1n }),
    1000n * ETHER - firstPayment.value - rawBlock(1).header.gasUsed * firstPayment.gasPrice!,
  ],
  ['balance of an absent account', (c) => c.getBalance({ address: ABSENT_ACCOUNT }), 0n],
  ['nonce', (c) => c.getTransactionCount({ address: fixture.COUNTER, blockNumber: 6n }), 0],
  ['nonce at a height', (c) => c.getTransactionCount({ address: ALICE, blockNumber: 2n }), 2],
  [
    'pending nonce',
    async (c) =>
      (await c.getTransactionCount({ address: ALICE, blockTag: 'pending' })) -
      (await c.getTransactionCount({ address: ALICE })),
    0,
  ],
  ['code', async (c) => (await c.getCode({ address: fixture.LARGE_CONTRACT }))!.length, 2 + 2 * 25_000],
  ['code that is not there', (c) => c.getCode({ address: ALICE }), undefined],
  ['storage', (c) => c.getStorageAt({ address: TOKEN, slot: balanceSlot(BOB) }), word(fixture.BALANCES[BOB])],
  ['storage at a height', (c) => c.getStorageAt({ address: fixture.COUNTER, slot: '0x0', blockNumber: 5n }), word(1n)],
  [
    'proof of an account and its storage',
    (c) => c.getProof({ address: TOKEN, storageKeys: [balanceSlot(BOB), word(99n)], blockNumber: 31n }),
    async (proof: Any) => {
      await verifyProof(proof, 31)
      assert.deepEqual(
        proof.storageProof.map(({ value }: Any) => value),
        [24n * ETHER + 1n - 2n, 0n],
      )
    },
  ],
  [
    'proof of an absent account',
    (c) => c.getProof({ address: ABSENT_ACCOUNT, storageKeys: [] }),
    (proof: Any) => verifyProof(proof, HEAD),
  ],
]

const OTHERS: Operation<PublicClient>[] = [
  [
    'trace of a transaction',
    (c) => ask(c, 'debug_traceTransaction', transactionHash(22), { tracer: 'callTracer' }),
    ({ gasUsed, to }: Any) => assert.deepEqual([Number(gasUsed) > 21_000, to], [true, TOKEN]),
  ],
  [
    'trace of a call',
    (c) =>
      ask(
        c,
        'debug_traceCall',
        { to: fixture.REVERTER, data: keccak256(toHex('failString()')).slice(0, 10) },
        'latest',
        {
          tracer: 'callTracer',
        },
      ),
    ({ error, revertReason }: Any) => assert.deepEqual([error, revertReason], ['execution reverted', 'not allowed']),
  ],
  [
    'calls of a block',
    (c) => ask(c, 'trace_block', formatQuantity(31)),
    (calls: Any[]) =>
      assert.deepEqual(
        calls.map((each) => each.transactionHash),
        transactionHashes(31),
      ),
  ],
  [
    'replay of a transaction',
    (c) => ask(c, 'trace_replayTransaction', transactionHash(25), ['stateDiff']),
    ({ stateDiff }: Any) => assert.ok(ALICE in stateDiff && BOB in stateDiff),
  ],
  ['what is held', (c) => ask(c, 'eth_capabilities'), ({ state }: Any) => assert.equal(state.oldestBlock, '0x0')],
  [
    'configuration of the forks',
    (c) => ask(c, 'eth_config'),
    ({ current }: Any) => assert.equal(Number(current.chainId), fixture.CHAIN_ID),
  ],
  [
    'version of the server',
    (c) => ask(c, 'web3_clientVersion'),
    (version: string) => assert.match(version, /^cairn\//i),
  ],
  ['version of the network', (c) => ask(c, 'net_version'), String(fixture.CHAIN_ID)],
  ['unknown method', (c) => ask(c, 'eth_nothing'), /does not exist\/is not available/],
]

testScript('viem', CLIENTS, [...BLOCKS, ...TRANSACTIONS, ...LOGS, ...CALLS, ...GAS, ...STATE, ...OTHERS])

test('viem subscribes over WebSocket', async () => {
  const { subscribe } = socket({ chain }).value!
  const ids = new Set<string>()
  for (const params of [['newHeads'], ['logs', { address: TOKEN }], ['newPendingTransactions'], ['syncing']]) {
    const { subscriptionId, unsubscribe } = await subscribe({ params: params as Any, onData: () => {} })
    ids.add(subscriptionId)
    const { result } = await unsubscribe()
    assert.equal(result, true)
  }
  assert.equal(ids.size, 4)
})
