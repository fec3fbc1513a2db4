import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseAbi } from 'viem'
import { Web3, WebSocketProvider } from 'web3'
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

/* A script of what web3.js can ask a read node for. */

const server = await serveFixture({ after })
const socket = new WebSocketProvider(server.socketUrl, {}, { autoReconnect: false, delay: 0, maxAttempts: 1 })
after(() => socket.disconnect())
const overSocket = new Web3(socket)
const CLIENTS: [string, Web3][] = [
  ['HTTP', new Web3(server.url)],
  ['WebSocket', overSocket],
]

const { ALICE, BOB, CAROL, ETHER, HEAD, ABSENT_ACCOUNT, TOKEN, TRANSFERS } = fixture
const MISSING = `0x${'ab'.repeat(32)}`
const ABI = parseAbi(fixture.ABI)
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
// biome-ignore lint/suspicious/noExplicitAny: what a client returned
type Any = any
const contract = (w: Web3, address: string): Any => new w.eth.Contract(ABI as Any, address)
const token = (w: Web3) => contract(w, TOKEN).methods
const reverter = (w: Web3) => contract(w, fixture.REVERTER).methods
/** Where the token keeps the balance of an account. */
const balanceSlot = (w: Web3, holder: string) =>
  w.utils.keccak256(w.eth.abi.encodeParameters(['address', 'uint256'], [holder, 0]))
/** Any method, by its name. */
const ask = (w: Web3, method: string, ...params: unknown[]): Promise<Any> =>
  w.requestManager.send({ method, params } as Any)

const BLOCKS: Operation<Web3>[] = [
  ['chain id', (w) => w.eth.getChainId(), BigInt(fixture.CHAIN_ID)],
  ['id of the network', (w) => w.eth.net.getId(), BigInt(fixture.CHAIN_ID)],
  ['number of the head', (w) => w.eth.getBlockNumber(), BigInt(HEAD)],
  ['latest block', async (w) => (await w.eth.getBlock('latest')).hash, blockHash(HEAD)],
  ['safe block', async (w) => (await w.eth.getBlock('safe')).hash, blockHash(HEAD)],
  ['finalized block', async (w) => (await w.eth.getBlock('finalized')).hash, blockHash(HEAD)],
  ['first block', async (w) => (await w.eth.getBlock('earliest')).hash, formatData(rawBlock(1).header.parentHash)],
  ['pending block', async (w) => (await w.eth.getBlock('pending')).parentHash, blockHash(HEAD)],
  [
    'block by number',
    (w) => w.eth.getBlock(37),
    (block: Any) => {
      const { header, hash, sizeBytes } = rawBlock(37)
      assert.deepEqual(
        [block.hash, block.stateRoot, block.gasUsed, block.baseFeePerGas, block.timestamp, block.size],
        [
          ...[formatData(hash), formatData(header.stateRoot), header.gasUsed, header.baseFeePerGas, header.timestamp],
          BigInt(sizeBytes),
        ],
      )
    },
  ],
  ['block by hash', async (w) => (await w.eth.getBlock(blockHash(22))).number, 22n],
  [
    'block with its transactions',
    async (w) => (await w.eth.getBlock(21, true)).transactions.map(({ hash }: Any) => hash),
    transactionHashes(21),
  ],
  ['unknown block', (w) => w.eth.getBlock(MISSING), null],
  ['number of transactions', (w) => w.eth.getBlockTransactionCount(21), BigInt(transactionHashes(21).length)],
  ['number of transactions by hash', (w) => w.eth.getBlockTransactionCount(blockHash(18)), 2n],
  ['number of uncles', (w) => w.eth.getBlockUncleCount(13), 1n],
  ['uncle', async (w) => (await w.eth.getUncle(13, 0)).stateRoot, formatData(rawBlock(13).uncles[0].stateRoot)],
  ['raw block', (w) => ask(w, 'debug_getRawBlock', '0x25'), formatData(encodeBlock(rawBlock(37)))],
]

function transactionFields({ hash, type, from, to, nonce, gas, value, input }: Any) {
  return [hash, Number(type), from, to ?? null, nonce, gas, value, input]
}

function expectedTransaction(number: number, index = 0) {
  const { hash, type, from, to, nonce, gasLimit, value, input } = rawTransaction(number, index)
  const addresses = [formatData(from), to ? formatData(to) : null]
  return [formatData(hash), type, ...addresses, nonce, gasLimit, value, formatData(input)]
}

/** A block with a transaction of each type. */
const TYPES = {
  ...{ 'legacy, without a chain id': 1, legacy: 8, 'with an access list': 22 },
  ...{ 'with a base fee': 25, 'with blobs': 37, 'with a delegation': 40 },
}

const TRANSACTIONS: Operation<Web3>[] = [
  ...Object.entries(TYPES).map(
    ([type, number]): Operation<Web3> => [
      `transaction ${type}`,
      async (w) => transactionFields(await w.eth.getTransaction(transactionHash(number))),
      expectedTransaction(number),
    ],
  ),
  [
    'transaction by block and index',
    async (w) => transactionFields(await w.eth.getTransactionFromBlock(21, 3)),
    expectedTransaction(21, 3),
  ],
  [
    'transaction by block hash and index',
    async (w) => transactionFields(await w.eth.getTransactionFromBlock(blockHash(31), 1)),
    expectedTransaction(31, 1),
  ],
  ['unknown transaction', (w) => w.eth.getTransaction(MISSING), /Transaction not found/],
  [
    'receipt',
    async (w) => (await w.eth.getTransactionReceipt(transactionHash(25))).gasUsed,
    rawBlock(25).header.gasUsed,
  ],
  ['receipt before Byzantium', async (w) => (await w.eth.getTransactionReceipt(transactionHash(2))).root!.length, 66],
  [
    'receipt of a creation',
    async (w) => (await w.eth.getTransactionReceipt(transactionHash(2))).contractAddress,
    fixture.EMITTER,
  ],
  [
    'receipt of a failed transaction',
    (w) => w.eth.getTransactionReceipt(transactionHash(21, 4)),
    ({ status, gasUsed, logs }: Any) =>
      assert.deepEqual([status, gasUsed, logs], [0n, rawTransaction(21, 4).gasLimit, []]),
  ],
  ['unknown receipt', (w) => w.eth.getTransactionReceipt(MISSING), /Transaction not found/],
  [
    'receipts of a block',
    async (w) => (await ask(w, 'eth_getBlockReceipts', '0x15')).map((each: Any) => each.transactionHash),
    transactionHashes(21),
  ],
  [
    'raw transaction',
    (w) => ask(w, 'debug_getRawTransaction', transactionHash(40)),
    formatData(encodeTransaction(rawTransaction(40))),
  ],
  ['pending transactions', (w) => w.eth.getPendingTransactions(), []],
  [
    'send a transaction',
    async (w) => void (await w.eth.sendSignedTransaction(formatData(encodeTransaction(rawTransaction(25))))),
    /--forward-transactions/,
  ],
]

const LOGS: Operation<Web3>[] = [
  [
    'events',
    async (w) =>
      (await contract(w, TOKEN).getPastEvents('Transfer', { fromBlock: 0 })).map(
        ({ returnValues }: Any) => returnValues.value,
      ),
    TRANSFERS.map(({ value }) => value),
  ],
  [
    'events by an argument',
    async (w) =>
      (await contract(w, TOKEN).getPastEvents('Transfer', { fromBlock: 0, filter: { from: BOB } })).map(
        ({ blockNumber }: Any) => Number(blockNumber),
      ),
    [26, 31],
  ],
  ['logs', async (w) => (await w.eth.getPastLogs({ address: TOKEN, fromBlock: 22, toBlock: 26 })).length, 2],
  [
    'logs by a topic',
    async (w) =>
      (
        await w.eth.getPastLogs({
          fromBlock: 31,
          toBlock: 31,
          topics: [fixture.TRANSFER_TOPIC, null, word(BigInt(BOB))],
        })
      ).length,
    1,
  ],
  ['logs of a block', async (w) => (await w.eth.getPastLogs({ blockHash: blockHash(31) } as Any)).length, 2],
  ['too many logs', (w) => w.eth.getPastLogs({ fromBlock: 0, toBlock: 60 }), /query returned more than 10000 results/],
  [
    'filters of logs',
    async (w) => {
      // web3.js sends their ids back as numbers.
      const ids = await Promise.all(
        Array.from({ length: 50 }, () => w.eth.createNewFilter({ address: TOKEN, fromBlock: 0 })),
      )
      const found = await Promise.all(ids.map((id) => w.eth.getFilterLogs(id as Any)))
      const changes = await Promise.all(ids.map((id) => w.eth.getFilterChanges(id as Any)))
      const removed = await Promise.all(ids.map((id) => w.eth.uninstallFilter(id as Any)))
      return [new Set(found.map(({ length }) => length)), changes.flat(), new Set(removed)]
    },
    [new Set([TRANSFERS.length]), [], new Set([true])],
  ],
  ['filter of blocks', async (w) => w.eth.getFilterChanges((await w.eth.createNewBlockFilter()) as Any), []],
  [
    'filter of pending transactions',
    async (w) => w.eth.getFilterChanges((await w.eth.createNewPendingTransactionFilter()) as Any),
    [],
  ],
  ['removed filter', (w) => w.eth.getFilterLogs(1), /filter not found/],
]

/** What web3.js read out of a failed call. */
async function revertOf(w: Web3, name: string): Promise<Any> {
  const error = await reverter(w)
    [name]()
    .call({ from: CAROL })
    .catch((thrown: unknown) => thrown)
  assert.ok(error instanceof Error)
  return (error as Any).cause ?? (error as Any).innerError ?? error
}

const CALLS: Operation<Web3>[] = [
  ['read a contract', (w) => token(w).name().call(), 'Cairn Stone'],
  ['read it at a height', (w) => token(w).balanceOf(BOB).call({}, 26), 24n * ETHER],
  ['read it at a tag', (w) => token(w).totalSupply().call({}, 'finalized'), 1000n * ETHER],
  ['read it before it was there', (w) => token(w).totalSupply().call({}, 14), /Returned values aren't valid/],
  [
    'read it after the head',
    (w) =>
      token(w)
        .totalSupply()
        .call({}, HEAD + 1),
    /header not found/,
  ],
  [
    'read in a batch',
    async (w) => {
      const batch = new w.BatchRequest()
      const data = w.eth.abi.encodeFunctionSignature('totalSupply()')
      const asked = [
        batch.add({ method: 'eth_blockNumber', params: [] } as Any),
        batch.add({ method: 'eth_call', params: [{ to: TOKEN, data }, 'latest'] } as Any),
      ]
      await batch.execute()
      return Promise.all(asked)
    },
    [formatQuantity(HEAD), word(1000n * ETHER)],
  ],
  [
    'call with its data',
    (w) => w.eth.call({ from: ALICE, to: TOKEN, data: token(w).transfer(BOB, 1).encodeABI() }),
    word(1n),
  ],
  ['call code that is not there', (w) => w.eth.call({ data: '0x602a5f5260205ff3' } as Any), word(42n)],
  ['call delegated code', (w) => contract(w, fixture.DELEGATOR).methods.decimals().call({}, 45), 18n],
  [
    'call with a changed state',
    (w) =>
      ask(w, 'eth_call', { to: TOKEN, data: token(w).totalSupply().encodeABI() }, 'latest', {
        [TOKEN]: { stateDiff: { [word(2n)]: word(9n) } },
      }),
    word(9n),
  ],
  [
    'call in a changed block',
    (w) =>
      ask(
        w,
        'eth_call',
        { to: ABSENT_ACCOUNT },
        'latest',
        { [ABSENT_ACCOUNT]: { code: '0x435f5260205ff3' } },
        { number: '0x63' },
      ),
    word(99n),
  ],
  ['reason of a revert', async (w) => (await revertOf(w, 'failString')).message, 'execution reverted: not allowed'],
  ['error of the contract', async (w) => (await revertOf(w, 'failCustom')).errorName, 'NotAllowed'],
  ['arguments of the error', async (w) => (await revertOf(w, 'failCustom')).errorArgs.code, 42n],
  [
    'revert without a reason',
    (w) => reverter(w).failEmpty().call(),
    /Error happened while trying to execute a function inside a smart contract/,
  ],
  ['invalid instruction', (w) => reverter(w).failInvalid().call(), /invalid opcode/],
  ['name of the Ethereum name service', (w) => w.eth.ens.getAddress('cairn.eth'), /Returned values aren't valid/],
  ['gas of a payment', (w) => w.eth.estimateGas({ from: ALICE, to: BOB, value: '0x1' }), 21_000n],
  [
    'gas of a call',
    (w) => token(w).transfer(CAROL, 1).estimateGas({ from: ALICE }),
    (gas: bigint) => assert.ok(gas > 30_000n && gas < 50_000n),
  ],
  [
    'gas of what fails',
    (w) => token(w).transfer(CAROL, 1).estimateGas({ from: ABSENT_ACCOUNT }),
    /Error happened while trying to execute a function inside a smart contract/,
  ],
  [
    'gas without the money',
    (w) => w.eth.estimateGas({ from: ABSENT_ACCOUNT, to: BOB, value: formatQuantity(ETHER) }),
    /insufficient funds/,
  ],
  [
    'access list',
    async (w) => {
      const transfer = { from: ALICE, to: TOKEN, data: token(w).transfer(BOB, 1).encodeABI() }
      const { accessList } = (await w.eth.createAccessList(transfer, 60)) as Any
      return [...accessList[0].storageKeys].sort().join() === [balanceSlot(w, ALICE), balanceSlot(w, BOB)].sort().join()
    },
    true,
  ],
  [
    'access list of a method',
    async (w) => ((await token(w).totalSupply().createAccessList({ from: ALICE })) as Any).accessList[0].storageKeys,
    [word(2n)],
  ],
  [
    'simulate blocks',
    (w) =>
      ask(
        w,
        'eth_simulateV1',
        { blockStateCalls: [{ calls: [{ from: ALICE, to: ABSENT_ACCOUNT, value: '0x3' }] }] },
        'latest',
      ),
    ([{ number, calls }]: Any) => assert.deepEqual([Number(number), calls[0].status], [HEAD + 1, '0x1']),
  ],
  ['gas price', async (w) => (await w.eth.getGasPrice()) > 1_000_000_000n, true],
  ['priority fee', (w) => w.eth.getMaxPriorityFeePerGas(), 1_000_000_000n],
  [
    'fees of the next transaction',
    async (w) => ((await w.eth.calculateFeeData()) as Any).baseFeePerGas,
    rawBlock(HEAD).header.baseFeePerGas,
  ],
  [
    'history of fees',
    (w) => w.eth.getFeeHistory(2, 27, [50]),
    ({ oldestBlock, baseFeePerGas }: Any) =>
      assert.deepEqual(
        [oldestBlock, ...baseFeePerGas.slice(0, 2)],
        [26n, ...[26, 27].map((number) => rawBlock(number).header.baseFeePerGas)],
      ),
  ],
]

const first = rawTransaction(1)
const STATE: Operation<Web3>[] = [
  ['balance', (w) => w.eth.getBalance(BOB, 'earliest'), 1000n * ETHER],
  [
    'balance at a height',
    (w) => w.eth.getBalance(ALICE, 1),
    1000n * ETHER - first.value - rawBlock(1).header.gasUsed * first.gasPrice!,
  ],
  ['balance of an absent account', (w) => w.eth.getBalance(ABSENT_ACCOUNT), 0n],
  ['nonce at a height', (w) => w.eth.getTransactionCount(ALICE, 2), 2n],
  [
    'pending nonce',
    async (w) => (await w.eth.getTransactionCount(ALICE, 'pending')) - (await w.eth.getTransactionCount(ALICE)),
    0n,
  ],
  ['code', (w) => w.eth.getCode(fixture.AMSTERDAM_DELEGATOR), `0xef0100${TOKEN.slice(2)}`],
  ['code before it was there', (w) => w.eth.getCode(TOKEN, 14), '0x'],
  ['storage', (w) => w.eth.getStorageAt(TOKEN, 2), word(1000n * ETHER)],
  ['storage at a height', (w) => w.eth.getStorageAt(fixture.COUNTER, 0, 5), word(1n)],
  ['storage of a mapping', (w) => w.eth.getStorageAt(TOKEN, balanceSlot(w, BOB) as Any), word(fixture.BALANCES[BOB])],
  [
    'proof',
    async (w) => ({ ...((await w.eth.getProof(TOKEN, [word(2n), word(99n)], 31)) as Any), address: TOKEN }),
    (proof: Any) => verifyProof(proof, 31),
  ],
]

const OTHERS: Operation<Web3>[] = [
  ['version of the server', (w) => w.eth.getNodeInfo(), (version: string) => assert.match(version, /^Cairn\//)],
  ['accounts', (w) => w.eth.getAccounts(), []],
  ['beneficiary', (w) => w.eth.getCoinbase(), `0x${'0'.repeat(40)}`],
  ['whether it mines', (w) => w.eth.isMining(), false],
  ['rate of hashes', (w) => w.eth.getHashRate(), 0n],
  ['whether it syncs', (w) => w.eth.isSyncing(), false],
  ['version of the protocol', async (w) => Number(await w.eth.getProtocolVersion()), 69],
  ['peers', (w) => w.eth.net.getPeerCount(), 0n],
  ['whether it listens', (w) => w.eth.net.isListening(), true],
  [
    'trace of a transaction',
    async (w) => (await ask(w, 'debug_traceTransaction', transactionHash(22), { tracer: 'callTracer' })).to,
    TOKEN,
  ],
  ['calls of a transaction', async (w) => (await ask(w, 'trace_transaction', transactionHash(22))).length, 1],
  ['what is held', async (w) => (await ask(w, 'eth_capabilities')).state.oldestBlock, '0x0'],
  ['unknown method', (w) => w.eth.getWork(), /does not exist\/is not available/],
]

testScript('web3.js', CLIENTS, [...BLOCKS, ...TRANSACTIONS, ...LOGS, ...CALLS, ...STATE, ...OTHERS])

test('web3.js subscribes over WebSocket', async () => {
  const subscriptions = [
    await overSocket.eth.subscribe('newHeads'),
    await overSocket.eth.subscribe('logs', { address: TOKEN }),
    await overSocket.eth.subscribe('newPendingTransactions'),
    await overSocket.eth.subscribe('syncing'),
  ]
  assert.equal(new Set(subscriptions.map(({ id }) => id)).size, subscriptions.length)
  await overSocket.eth.clearSubscriptions()
})
