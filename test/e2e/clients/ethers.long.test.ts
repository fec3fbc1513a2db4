import assert from 'node:assert/strict'
import { after } from 'node:test'
import {
  AbiCoder,
  Contract,
  getAddress,
  Interface,
  isCallException,
  JsonRpcProvider,
  keccak256,
  Network,
  Transaction,
  toBeHex,
  VoidSigner,
  WebSocketProvider,
} from 'ethers'
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

/* A script of what ethers can ask a read node for. */

// ethers reads no block without a number.
const server = await serveFixture({ after }, ['--pending-block', 'geth'])
const network = Network.from(fixture.CHAIN_ID)
type Provider = JsonRpcProvider | WebSocketProvider
const options = { staticNetwork: network, cacheTimeout: -1 }
const CLIENTS: [string, Provider][] = [
  ['HTTP', new JsonRpcProvider(server.url, network, { ...options, batchMaxCount: 1 })],
  ['HTTP in batches', new JsonRpcProvider(server.url, network, options)],
  ['WebSocket', new WebSocketProvider(server.socketUrl, network, options)],
]
after(async () => {
  for (const [, provider] of CLIENTS) await provider.destroy()
})

const { ALICE, BOB, CAROL, ETHER, HEAD, ABSENT_ACCOUNT, TOKEN, TRANSFERS } = fixture
const MISSING = `0x${'ab'.repeat(32)}`
const abi = new Interface(fixture.ABI)
const word = (value: bigint) => toBeHex(value, 32)
/** Where the token keeps the balance of an account. */
const balanceSlot = (holder: string) =>
  keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [holder, 0n]))
const tokenOf = (p: Provider) => new Contract(TOKEN, abi, p)
const aliceAt = (p: Provider) => new VoidSigner(ALICE, p)
// biome-ignore lint/suspicious/noExplicitAny: what a client returned
type Any = any

const BLOCKS: Operation<Provider>[] = [
  ['chain id', async (p) => Number((await p.getNetwork()).chainId), fixture.CHAIN_ID],
  ['number of the head', (p) => p.getBlockNumber(), HEAD],
  ['latest block', async (p) => (await p.getBlock('latest'))!.hash, blockHash(HEAD)],
  ['safe block', async (p) => (await p.getBlock('safe'))!.hash, blockHash(HEAD)],
  ['finalized block', async (p) => (await p.getBlock('finalized'))!.hash, blockHash(HEAD)],
  ['first block', async (p) => (await p.getBlock('earliest'))!.hash, formatData(rawBlock(1).header.parentHash)],
  ['pending block', async (p) => (await p.getBlock('pending'))!.parentHash, blockHash(HEAD)],
  [
    'block by number',
    (p) => p.getBlock(37),
    (block: Any) => {
      const { header, hash } = rawBlock(37)
      assert.deepEqual(
        [block.hash, block.stateRoot, block.gasUsed, block.baseFeePerGas, BigInt(block.timestamp), block.blobGasUsed],
        [
          ...[formatData(hash), formatData(header.stateRoot), header.gasUsed, header.baseFeePerGas, header.timestamp],
          header.blobGasUsed,
        ],
      )
    },
  ],
  ['block by hash', async (p) => (await p.getBlock(blockHash(22)))!.number, 22],
  ['block from the end', async (p) => (await p.getBlock(-4))!.hash, blockHash(HEAD - 4)],
  [
    'block with its transactions',
    async (p) => (await p.getBlock(21, true))!.prefetchedTransactions.map(({ hash }) => hash),
    transactionHashes(21),
  ],
  [
    'transaction of a block',
    async (p) => (await (await p.getBlock(18))!.getTransaction(1)).hash,
    transactionHash(18, 1),
  ],
  ['unknown block', (p) => p.getBlock(MISSING), null],
  ['block after the head', (p) => p.getBlock(HEAD + 1), null],
  ['number of transactions', (p) => p.send('eth_getBlockTransactionCountByNumber', ['0x15']), '0x5'],
  ['number of uncles', (p) => p.send('eth_getUncleCountByBlockHash', [blockHash(13)]), '0x1'],
  ['raw block', (p) => p.send('debug_getRawBlock', ['0x25']), formatData(encodeBlock(rawBlock(37)))],
]

/** A block with a transaction of each type. */
const TYPES = { legacy: 8, 'with an access list': 22, 'with a base fee': 25, 'with blobs': 37, 'with a delegation': 40 }

const TRANSACTIONS: Operation<Provider>[] = [
  ...Object.entries(TYPES).map(
    ([type, number]): Operation<Provider> => [
      `transaction ${type}, as it was signed`,
      async (p) => {
        const { hash, from, serialized } = Transaction.from((await p.getTransaction(transactionHash(number)))!)
        return [hash, from!.toLowerCase(), serialized]
      },
      [
        ...[transactionHash(number), formatData(rawTransaction(number).from)],
        formatData(encodeTransaction(rawTransaction(number))),
      ],
    ],
  ),
  ['unknown transaction', (p) => p.getTransaction(MISSING), null],
  ['confirmations', async (p) => (await p.getTransaction(transactionHash(22)))!.confirmations(), HEAD - 22 + 1],
  [
    'block of a transaction',
    async (p) => (await (await p.getTransaction(transactionHash(22)))!.getBlock())!.hash,
    blockHash(22),
  ],
  ['receipt', async (p) => (await p.getTransactionReceipt(transactionHash(25)))!.gasUsed, rawBlock(25).header.gasUsed],
  [
    'receipt as soon as it is there',
    async (p) => (await p.waitForTransaction(transactionHash(25)))!.blockHash,
    blockHash(25),
  ],
  ['receipt before Byzantium', async (p) => (await p.getTransactionReceipt(transactionHash(2)))!.root!.length, 66],
  [
    'receipt of a failed transaction',
    (p) => p.getTransactionReceipt(transactionHash(21, 4)),
    ({ status, gasUsed, logs }: Any) =>
      assert.deepEqual([status, gasUsed, logs.length], [0, rawTransaction(21, 4).gasLimit, 0]),
  ],
  [
    'receipt of a creation',
    async (p) => (await p.getTransactionReceipt(transactionHash(2)))!.contractAddress,
    getAddress(fixture.EMITTER),
  ],
  [
    'receipt of a transaction with blobs',
    async (p) => (await p.getTransactionReceipt(transactionHash(37)))!.blobGasUsed,
    rawBlock(37).header.blobGasUsed,
  ],
  ['unknown receipt', (p) => p.getTransactionReceipt(MISSING), null],
  [
    'receipts of a block',
    async (p) => (await p.send('eth_getBlockReceipts', ['0x15'])).map((each: Any) => each.transactionHash),
    transactionHashes(21),
  ],
  [
    'raw transaction',
    (p) => p.send('debug_getRawTransaction', [transactionHash(40)]),
    formatData(encodeTransaction(rawTransaction(40))),
  ],
  [
    'send a transaction',
    (p) => p.broadcastTransaction(formatData(encodeTransaction(rawTransaction(25)))),
    /--forward-transactions/,
  ],
]

const LOGS: Operation<Provider>[] = [
  [
    'events',
    async (p) => (await tokenOf(p).queryFilter('Transfer', 0)).map((event: Any) => event.args.value),
    TRANSFERS.map(({ value }) => value),
  ],
  [
    'events by an argument',
    async (p) => (await tokenOf(p).queryFilter(tokenOf(p).filters.Transfer(BOB))).map(({ blockNumber }) => blockNumber),
    [26, 31],
  ],
  [
    'logs by alternatives',
    async (p) =>
      (
        await p.getLogs({
          fromBlock: 0,
          address: TOKEN,
          topics: [[fixture.TRANSFER_TOPIC], null, [word(BigInt(BOB)), word(BigInt(CAROL))]],
        })
      ).length,
    TRANSFERS.filter(({ to }) => to === BOB || to === CAROL).length,
  ],
  ['logs of a block', async (p) => (await p.getLogs({ blockHash: blockHash(31) })).length, 2],
  [
    'logs of several addresses',
    async (p) =>
      (await p.getLogs({ fromBlock: 2, toBlock: 16, address: [TOKEN, fixture.COUNTER] })).map(
        ({ blockNumber }) => blockNumber,
      ),
    [5, 6, 16],
  ],
  ['too many logs', (p) => p.getLogs({ fromBlock: 0, toBlock: 60 }), /query returned more than 10000 results/],
  ['logs of an unknown block', (p) => p.getLogs({ blockHash: MISSING }), /unknown block/],
  [
    'filter of logs',
    async (p) => {
      const id = await p.send('eth_newFilter', [{ address: TOKEN, fromBlock: '0x0' }])
      const [logs, changes] = [await p.send('eth_getFilterLogs', [id]), await p.send('eth_getFilterChanges', [id])]
      return [logs.length, changes, await p.send('eth_uninstallFilter', [id])]
    },
    [TRANSFERS.length, [], true],
  ],
  ['filter of blocks', async (p) => p.send('eth_getFilterChanges', [await p.send('eth_newBlockFilter', [])]), []],
  [
    'filter of pending transactions',
    async (p) => p.send('eth_getFilterChanges', [await p.send('eth_newPendingTransactionFilter', [])]),
    [],
  ],
  ['removed filter', (p) => p.send('eth_getFilterChanges', ['0x123456789']), /filter not found/],
  [
    'listeners of blocks and events',
    async (p) => {
      const listener = () => {}
      await p.on('block', listener)
      await p.on({ address: TOKEN }, listener)
      const count = await p.listenerCount()
      await p.removeAllListeners()
      return count
    },
    2,
  ],
]

/** What ethers read out of a failed call. */
async function revertOf(p: Provider, name: string): Promise<Any> {
  const error: unknown = await new Contract(fixture.REVERTER, abi, p)
    [name]({ from: CAROL })
    .catch((thrown: unknown) => thrown)
  assert.ok(isCallException(error), String(error))
  return error
}

const CALLS: Operation<Provider>[] = [
  ['read a contract', (p) => tokenOf(p).name(), 'Cairn Stone'],
  ['read it at a height', (p) => tokenOf(p).balanceOf(BOB, { blockTag: 26 }), 24n * ETHER],
  ['read it at a tag', (p) => tokenOf(p).totalSupply({ blockTag: 'finalized' }), 1000n * ETHER],
  ['read it before it was there', (p) => tokenOf(p).totalSupply({ blockTag: 14 }), /could not decode result data/],
  ['read it after the head', (p) => tokenOf(p).totalSupply({ blockTag: HEAD + 1 }), /missing revert data/],
  [
    'read it in several calls at once',
    async (p) => Promise.all([ALICE, BOB, CAROL].map((holder) => tokenOf(p).balanceOf(holder))),
    [fixture.BALANCES[ALICE], fixture.BALANCES[BOB], fixture.BALANCES[CAROL]],
  ],
  ['try a transaction', (p) => tokenOf(p).transfer.staticCall(BOB, 1n, { from: ALICE }), true],
  [
    'try one that fails',
    (p) => tokenOf(p).transfer.staticCall(BOB, 1n, { from: ABSENT_ACCOUNT }),
    /insufficient balance/,
  ],
  ['call code that is not there', (p) => p.call({ data: '0x602a5f5260205ff3' }), word(42n)],
  ['call delegated code', (p) => new Contract(fixture.DELEGATOR, abi, p).decimals({ blockTag: 45 }), 18n],
  [
    'call with a changed state',
    async (p) => {
      const call = { to: TOKEN, data: abi.encodeFunctionData('balanceOf', [ABSENT_ACCOUNT]) }
      const state = { [TOKEN]: { stateDiff: { [balanceSlot(ABSENT_ACCOUNT)]: word(77n) } } }
      return p.send('eth_call', [call, 'latest', state])
    },
    word(77n),
  ],
  [
    'call in a changed block',
    (p) =>
      p.send('eth_call', [
        { to: ABSENT_ACCOUNT },
        'latest',
        { [ABSENT_ACCOUNT]: { code: '0x435f5260205ff3' } },
        { number: '0x63' },
      ]),
    word(99n),
  ],
  ['reason of a revert', async (p) => (await revertOf(p, 'failString')).reason, 'not allowed'],
  ['panic', async (p) => (await revertOf(p, 'failPanic')).reason, 'Panic due to OVERFLOW(17)'],
  ['error of the contract', async (p) => [...(await revertOf(p, 'failCustom')).revert.args], [getAddress(CAROL), 42n]],
  ['revert without a reason', async (p) => (await revertOf(p, 'failEmpty')).data, '0x'],
  ['invalid instruction', (p) => new Contract(fixture.REVERTER, abi, p).failInvalid(), /missing revert data/],
  ['name of the Ethereum name service', (p) => p.resolveName('cairn.eth'), /network does not support ENS/],
  ['gas of a payment', (p) => p.estimateGas({ from: ALICE, to: BOB, value: 1n }), 21_000n],
  [
    'gas of a call',
    (p) => tokenOf(p).transfer.estimateGas(CAROL, 1n, { from: ALICE }),
    (gas: bigint) => assert.ok(gas > 30_000n && gas < 50_000n),
  ],
  [
    'gas of what fails',
    (p) => tokenOf(p).transfer.estimateGas(CAROL, 1n, { from: ABSENT_ACCOUNT }),
    /insufficient balance/,
  ],
  [
    'gas without the money',
    (p) => p.estimateGas({ from: ABSENT_ACCOUNT, to: BOB, value: ETHER }),
    /insufficient funds/i,
  ],
  [
    'access list',
    (p) =>
      p.send('eth_createAccessList', [
        { from: ALICE, to: TOKEN, data: abi.encodeFunctionData('transfer', [BOB, 1n]) },
        '0x3c',
      ]),
    ({ accessList: [{ storageKeys }] }: Any) =>
      assert.deepEqual([...storageKeys].sort(), [balanceSlot(ALICE), balanceSlot(BOB)].sort()),
  ],
  [
    'simulate blocks',
    (p) =>
      p.send('eth_simulateV1', [
        { blockStateCalls: [{ calls: [{ from: ALICE, to: ABSENT_ACCOUNT, value: '0x3' }] }], traceTransfers: true },
        'latest',
      ]),
    ([{ number, calls }]: Any) => assert.deepEqual([Number(number), calls[0].status], [HEAD + 1, '0x1']),
  ],
  ['fees', async (p) => (await p.getFeeData()).maxPriorityFeePerGas, 1_000_000_000n],
  [
    'history of fees',
    async (p) => (await p.send('eth_feeHistory', ['0x2', '0x1b', [50]])).baseFeePerGas[0],
    formatQuantity(rawBlock(26).header.baseFeePerGas!),
  ],
  [
    'fill a transaction in',
    async (p) => aliceAt(p).populateTransaction({ to: BOB, value: 1n }),
    ({ chainId, gasLimit, type, from }: Any) =>
      assert.deepEqual([Number(chainId), gasLimit, type, from], [fixture.CHAIN_ID, 21_000n, 2, ALICE]),
  ],
  [
    'call of a signer',
    (p) => aliceAt(p).call({ to: TOKEN, data: abi.encodeFunctionData('transfer', [BOB, 1n]) }),
    word(1n),
  ],
]

const first = rawTransaction(1)
const STATE: Operation<Provider>[] = [
  ['balance', (p) => p.getBalance(BOB, 0), 1000n * ETHER],
  [
    'balance at a height',
    (p) => p.getBalance(ALICE, 1),
    1000n * ETHER - first.value - rawBlock(1).header.gasUsed * first.gasPrice!,
  ],
  ['balance of an absent account', (p) => p.getBalance(ABSENT_ACCOUNT), 0n],
  ['nonce at a height', (p) => p.getTransactionCount(ALICE, 2), 2],
  ['nonce of a signer', async (p) => (await aliceAt(p).getNonce()) - (await p.getTransactionCount(ALICE)), 0],
  ['code', (p) => p.getCode(fixture.AMSTERDAM_DELEGATOR), `0xef0100${TOKEN.slice(2)}`],
  ['code before it was there', (p) => p.getCode(TOKEN, 14), '0x'],
  [
    'code of a contract object',
    async (p) => (await tokenOf(p).getDeployedCode())!.length,
    (length: number) => assert.ok(length > 100),
  ],
  ['storage', (p) => p.getStorage(TOKEN, balanceSlot(BOB)), word(fixture.BALANCES[BOB])],
  ['storage at a height', (p) => p.getStorage(fixture.COUNTER, 0, 5), word(1n)],
  [
    'storage of several accounts',
    (p) => p.send('eth_getStorageValues', [{ [TOKEN]: [word(2n)] }, 'latest']),
    { [TOKEN]: [word(1000n * ETHER)] },
  ],
  [
    'account',
    (p) => p.send('eth_getAccountInfo', [BOB, '0x0']),
    { balance: formatQuantity(1000n * ETHER), nonce: '0x0', code: '0x' },
  ],
  [
    'proof',
    (p) => p.send('eth_getProof', [TOKEN, [balanceSlot(BOB), '0x63'], '0x1f']),
    (proof: Any) => verifyProof(proof, 31),
  ],
]

const OTHERS: Operation<Provider>[] = [
  ['accounts', (p) => p.listAccounts(), []],
  [
    'trace of a transaction',
    async (p) => (await p.send('debug_traceTransaction', [transactionHash(22), { tracer: 'callTracer' }])).to,
    TOKEN,
  ],
  ['calls of a transaction', async (p) => (await p.send('trace_transaction', [transactionHash(22)])).length, 1],
  ['what is held', async (p) => (await p.send('eth_capabilities', [])).state.oldestBlock, '0x0'],
  [
    'version of the server',
    (p) => p.send('web3_clientVersion', []),
    (version: string) => assert.match(version, /^Cairn\//),
  ],
  ['unknown method', (p) => p.send('eth_nothing', []), /does not exist\/is not available/],
]

testScript('ethers', CLIENTS, [...BLOCKS, ...TRANSACTIONS, ...LOGS, ...CALLS, ...STATE, ...OTHERS])
