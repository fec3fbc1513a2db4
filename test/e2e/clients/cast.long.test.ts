import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { keccak256 } from '../../../src/chain/crypto.js'
import { encodeBlock } from '../../../src/chain/eth/block.js'
import { encodeHeader } from '../../../src/chain/eth/header.js'
import { encodeTransaction } from '../../../src/chain/eth/transaction.js'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { serveFixture, spawnProgram } from '../../support/cairn.js'
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
import { findFoundry } from '../../support/upstream/foundry.js'

/* A script of what cast can ask a read node for, each operation a process of its own. */

/** Runs cast with the arguments against the server; what it wrote. @throws Error with what it wrote to standard
 *  error */
type Cast = (...args: string[]) => Promise<string>

const { ALICE, BOB, CAROL, ETHER, HEAD, ABSENT_ACCOUNT, REVERTER, TOKEN, TRANSFERS } = fixture
const MISSING = `0x${'ab'.repeat(32)}`
const TRANSFER = 'transfer(address,uint256)'
const EVENT = 'Transfer(address,address,uint256)'
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
const json = async (written: Promise<string>) => JSON.parse(await written)
const number = async (written: Promise<string>) => BigInt((await written).split(' ')[0])
// biome-ignore lint/suspicious/noExplicitAny: JSON that cast wrote
type Any = any

const BLOCKS: Operation<Cast>[] = [
  ['chain id', (cast) => cast('chain-id'), String(fixture.CHAIN_ID)],
  ['version of the server', (cast) => cast('client'), (version: string) => assert.match(version, /^Cairn\//)],
  ['number of the head', (cast) => cast('block-number'), String(HEAD)],
  ['number of a tag', (cast) => cast('block-number', 'earliest'), '0'],
  ['number of a hash', (cast) => cast('block-number', blockHash(37)), '37'],
  ['latest block', (cast) => cast('block', '-f', 'hash'), blockHash(HEAD)],
  ['safe block', (cast) => cast('block', 'safe', '-f', 'hash'), blockHash(HEAD)],
  ['finalized block', (cast) => cast('block', 'finalized', '-f', 'hash'), blockHash(HEAD)],
  ['first block', (cast) => cast('block', 'earliest', '-f', 'hash'), formatData(rawBlock(1).header.parentHash)],
  ['pending block', (cast) => cast('block', 'pending', '-f', 'parentHash'), blockHash(HEAD)],
  ['block by number', (cast) => cast('block', '37', '-f', 'stateRoot'), formatData(rawBlock(37).header.stateRoot)],
  ['block by hash', (cast) => cast('block', blockHash(22), '-f', 'gasUsed'), String(rawBlock(22).header.gasUsed)],
  [
    'block with its transactions',
    (cast) => json(cast('block', '21', '--full', '--json')),
    ({ transactions }: Any) =>
      assert.deepEqual(
        transactions.map(({ hash }: Any) => hash),
        transactionHashes(21),
      ),
  ],
  ['header as it is hashed', (cast) => cast('block', '22', '--raw'), formatData(encodeHeader(rawBlock(22).header))],
  ['unknown block', (cast) => cast('block', String(HEAD + 1)), /not found/],
  [
    'age of a block',
    (cast) => cast('age', '22'),
    (age: string) => assert.equal(Date.parse(age) / 1000, Number(rawBlock(22).header.timestamp)),
  ],
  ['block by time', (cast) => cast('find-block', String(rawBlock(30).header.timestamp)), '30'],
  ['base fee', (cast) => cast('base-fee', '30'), String(rawBlock(30).header.baseFeePerGas)],
  ['gas price', (cast) => cast('gas-price'), (price: string) => assert.ok(BigInt(price) > 1_000_000_000n)],
]

/** A block with a transaction of each type. */
const TYPES = {
  'legacy, without a chain id': 1,
  legacy: 8,
  'with an access list': 22,
  'with a base fee': 25,
  'with blobs': 37,
  'with a delegation': 40,
}

const TRANSACTIONS: Operation<Cast>[] = [
  ...Object.entries(TYPES).map(
    ([type, at]): Operation<Cast> => [
      `transaction ${type}`,
      (cast) => json(cast('tx', transactionHash(at), '--json')),
      (found: Any) => {
        const { type: kind, from, to, nonce, value, input, gasLimit } = rawTransaction(at)
        const fields = [
          found.hash,
          Number(found.type),
          found.from,
          found.to,
          found.nonce,
          found.value,
          found.input,
          found.gas,
        ]
        const expected = [
          ...[transactionHash(at), kind, formatData(from), to ? formatData(to) : null],
          ...[formatQuantity(nonce), formatQuantity(value), formatData(input), formatQuantity(gasLimit)],
        ]
        assert.deepEqual(fields, expected)
      },
    ],
  ),
  [
    'raw transaction',
    (cast) => cast('tx', '--raw', transactionHash(25)),
    formatData(encodeTransaction(rawTransaction(25))),
  ],
  [
    'transaction by sender and nonce',
    (cast) => cast('tx', '--from', ALICE, '--nonce', '0', '--raw'),
    formatData(encodeTransaction(rawTransaction(1))),
  ],
  ['field of a transaction', (cast) => cast('tx', transactionHash(25), 'blockNumber'), '25'],
  ['unknown transaction', (cast) => cast('tx', MISSING), /tx not found/],
  ['receipt', (cast) => cast('receipt', transactionHash(25), 'gasUsed'), String(rawBlock(25).header.gasUsed)],
  [
    'receipt before Byzantium',
    (cast) => json(cast('receipt', transactionHash(2), '--json')),
    ({ contractAddress, root }: Any) => assert.deepEqual([contractAddress, root.length], [fixture.EMITTER, 66]),
  ],
  [
    'receipt of a failed transaction',
    (cast) => json(cast('receipt', transactionHash(21, 4), '--json')),
    ({ status, gasUsed }: Any) => assert.deepEqual([status, BigInt(gasUsed)], ['0x0', rawTransaction(21, 4).gasLimit]),
  ],
  [
    'receipt of a transaction with blobs',
    (cast) => json(cast('receipt', transactionHash(37), '--json')),
    ({ blobGasUsed }: Any) => assert.equal(BigInt(blobGasUsed), rawBlock(37).header.blobGasUsed),
  ],
  ['unknown receipt', (cast) => cast('receipt', MISSING, '--async'), /tx not found/],
  [
    'run a transaction again',
    (cast) => cast('run', transactionHash(22, 1), '--quick'),
    (trace: string) => assert.match(trace, /Revert.*insufficient balance/),
  ],
  [
    'trace of a transaction',
    (cast) => json(cast('trace', transactionHash(22), '--json')),
    ([{ action, blockHash: hash }]: Any) => assert.deepEqual([action.to, hash], [TOKEN, blockHash(22)]),
  ],
  [
    'send a transaction',
    (cast) => cast('publish', formatData(encodeTransaction(rawTransaction(25)))),
    /--forward-transactions/,
  ],
]

const LOGS: Operation<Cast>[] = [
  [
    'logs of an event',
    (cast) => json(cast('logs', '--json', '--from-block', '0', '--address', TOKEN, EVENT)),
    (logs: Any[]) =>
      assert.deepEqual(
        logs.map(({ data }) => BigInt(data)),
        TRANSFERS.map(({ value }) => value),
      ),
  ],
  [
    'logs by an argument',
    (cast) =>
      json(
        cast(
          'logs',
          '--json',
          '--from-block',
          '20',
          '--to-block',
          '31',
          'Transfer(address indexed,address indexed,uint256)',
          ALICE,
        ),
      ),
    (logs: Any[]) =>
      assert.deepEqual(
        logs.map(({ blockNumber }) => Number(blockNumber)),
        [22, 30],
      ),
  ],
  [
    'logs by a topic',
    (cast) => json(cast('logs', '--json', '--from-block', '31', '--to-block', '31', fixture.TRANSFER_TOPIC)),
    (logs: Any[]) => assert.equal(logs.length, 2),
  ],
  [
    'logs in several queries',
    (cast) => json(cast('logs', '--json', '--query-size', '10', '--from-block', '0', '--address', TOKEN, EVENT)),
    (logs: Any[]) => assert.equal(logs.length, TRANSFERS.length),
  ],
]

const CALLS: Operation<Cast>[] = [
  ['read a contract', (cast) => cast('call', TOKEN, 'name()(string)'), '"Cairn Stone"'],
  [
    'read it at a height',
    (cast) => number(cast('call', TOKEN, 'balanceOf(address)(uint256)', BOB, '--block', '26')),
    24n * ETHER,
  ],
  [
    'read it at a hash',
    (cast) => number(cast('call', TOKEN, 'balanceOf(address)(uint256)', BOB, '--block', blockHash(22))),
    25n * ETHER,
  ],
  ['read it before it was there', (cast) => cast('call', TOKEN, 'totalSupply()', '--block', '14'), '0x'],
  [
    'call with a sender and data',
    (cast) =>
      cast('call', TOKEN, '--from', ALICE, '--data', `0xa9059cbb${word(BigInt(BOB)).slice(2)}${word(1n).slice(2)}`),
    word(1n),
  ],
  ['call delegated code', (cast) => cast('call', fixture.DELEGATOR, 'decimals()(uint8)', '--block', '45'), '18'],
  [
    'call with changed code',
    (cast) => cast('call', ABSENT_ACCOUNT, 'any()(uint256)', '--override-code', `${ABSENT_ACCOUNT}:0x602a5f5260205ff3`),
    '42',
  ],
  [
    'call with a changed balance',
    (cast) =>
      cast(
        'call',
        ABSENT_ACCOUNT,
        'any()(uint256)',
        '--override-code',
        `${ABSENT_ACCOUNT}:0x475f5260205ff3`,
        '--override-balance',
        `${ABSENT_ACCOUNT}:7`,
      ),
    '7',
  ],
  [
    'call with changed storage',
    (cast) => cast('call', TOKEN, 'totalSupply()(uint256)', '--override-state-diff', `${TOKEN}:0x2:0x9`),
    '9',
  ],
  [
    'call in a changed block',
    (cast) =>
      number(
        cast(
          'call',
          ABSENT_ACCOUNT,
          'any()(uint256)',
          '--override-code',
          `${ABSENT_ACCOUNT}:0x425f5260205ff3`,
          '--block.time',
          '4000000000',
        ),
      ),
    4_000_000_000n,
  ],
  ['reason of a revert', (cast) => cast('call', REVERTER, 'failString()'), /execution reverted: not allowed/],
  ['panic', (cast) => cast('call', REVERTER, 'failPanic()'), /arithmetic underflow or overflow/],
  [
    'error of the contract',
    (cast) => cast('call', REVERTER, 'failCustom()', '--from', CAROL),
    new RegExp(`execution reverted.*0x8626cc03${word(BigInt(CAROL)).slice(2)}`),
  ],
  ['invalid instruction', (cast) => cast('call', REVERTER, 'failInvalid()'), /invalid opcode/],
  [
    'trace of a call',
    (cast) => cast('call', TOKEN, 'name()(string)', '--trace'),
    (trace: string) => assert.match(trace, /\[Return\] "Cairn Stone"/),
  ],
  ['metadata of a token', (cast) => cast('erc20-token', 'symbol', TOKEN), 'STONE'],
  ['balance of a token', (cast) => number(cast('erc20-token', 'balance', TOKEN, CAROL)), fixture.BALANCES[CAROL]],
  ['supply of a token', (cast) => number(cast('erc20-token', 'total-supply', TOKEN)), 1000n * ETHER],
  ['gas of a payment', (cast) => cast('estimate', BOB, '--value', '1', '--from', ALICE), '21000'],
  [
    'gas of a call',
    (cast) => number(cast('estimate', TOKEN, TRANSFER, BOB, '1', '--from', ALICE)),
    (gas: bigint) => assert.ok(gas > 30_000n && gas < 50_000n),
  ],
  [
    'gas of what fails',
    (cast) => cast('estimate', TOKEN, TRANSFER, BOB, '1', '--from', ABSENT_ACCOUNT),
    /insufficient balance/,
  ],
  [
    'access list',
    (cast) => json(cast('access-list', TOKEN, TRANSFER, BOB, '1', '--from', ALICE, '--block', '60', '--json')),
    ({ accessList }: Any) => {
      const slots = [ALICE, BOB].map((holder) =>
        formatData(keccak256(Buffer.from(holder.slice(2).padStart(64, '0') + '0'.repeat(64), 'hex'))),
      )
      assert.deepEqual([accessList[0].address, [...accessList[0].storageKeys].sort()], [TOKEN, slots.sort()])
    },
  ],
  ['name of the Ethereum name service', (cast) => cast('resolve-name', 'cairn.eth'), /Failed to resolve ENS name/],
  ['proxy', (cast) => cast('implementation', TOKEN), `0x${'0'.repeat(40)}`],
]

const first = rawTransaction(1)
const STATE: Operation<Cast>[] = [
  ['balance', (cast) => cast('balance', BOB, '--block', '0'), String(1000n * ETHER)],
  [
    'balance at a height',
    (cast) => cast('balance', ALICE, '--block', '1'),
    String(1000n * ETHER - first.value - rawBlock(1).header.gasUsed * first.gasPrice!),
  ],
  ['nonce', (cast) => cast('nonce', ABSENT_ACCOUNT), '0'],
  ['nonce at a height', (cast) => cast('nonce', ALICE, '--block', '2'), '2'],
  ['code', (cast) => cast('code', fixture.AMSTERDAM_DELEGATOR), `0xef0100${TOKEN.slice(2)}`],
  ['size of code', (cast) => cast('codesize', fixture.LARGE_CONTRACT), '25000'],
  [
    'hash of code',
    async (cast) =>
      (await cast('codehash', TOKEN)) ===
      formatData(keccak256(Buffer.from((await cast('code', TOKEN)).slice(2), 'hex'))),
    true,
  ],
  ['storage', (cast) => cast('storage', TOKEN, '2'), word(1000n * ETHER)],
  ['storage at a height', (cast) => cast('storage', fixture.COUNTER, '0', '--block', '5'), word(1n)],
  ['proof', (cast) => json(cast('proof', TOKEN, '0x2', '--block', '31')), (proof: Any) => verifyProof(proof, 31)],
  [
    'root of the storage',
    async (cast) =>
      (await cast('storage-root', TOKEN, '--block', '31')) ===
      (await json(cast('proof', TOKEN, '--block', '31'))).storageHash,
    true,
  ],
]

const OTHERS: Operation<Cast>[] = [
  ['any method', (cast) => json(cast('rpc', 'eth_syncing')), false],
  [
    'any method with its parameters',
    (cast) => json(cast('rpc', 'debug_getRawBlock', '0x25')),
    formatData(encodeBlock(rawBlock(37))),
  ],
  [
    'any method with raw parameters',
    (cast) => json(cast('rpc', '--raw', 'eth_getBlockReceipts', '["0x15"]')),
    (receipts: Any[]) =>
      assert.deepEqual(
        receipts.map((each) => each.transactionHash),
        transactionHashes(21),
      ),
  ],
  [
    'history of fees',
    (cast) => json(cast('rpc', 'eth_feeHistory', '0x1', '0x1b', '[]')),
    ({ oldestBlock }: Any) => assert.equal(oldestBlock, '0x1b'),
  ],
  [
    'what is held',
    (cast) => json(cast('rpc', 'eth_capabilities')),
    ({ state }: Any) => assert.equal(state.oldestBlock, '0x0'),
  ],
  ['pool', (cast) => json(cast('tx-pool', 'status')), { pending: '0x0', queued: '0x0' }],
  ['unknown method', (cast) => cast('rpc', 'eth_nothing'), /-32601: the method eth_nothing does not exist/],
]

const path = findFoundry('cast')
if (path === undefined) {
  test('cast runs its script', { skip: 'cast cannot be installed' })
} else {
  // cast reads no block without a number.
  const server = await serveFixture({ after }, ['--pending-block', 'geth'])
  const castTo =
    (url: string): Cast =>
    async (command, ...args) => {
      const { code, stdout, stderr } = await spawnProgram(path, [command, ...args, '--rpc-url', url]).ended
      if (code !== 0) throw new Error(stderr)
      return stdout.trim()
    }
  const clients: [string, Cast][] = [
    ['HTTP', castTo(server.url)],
    ['WebSocket', castTo(server.socketUrl)],
  ]
  testScript('cast', clients, [...BLOCKS, ...TRANSACTIONS, ...LOGS, ...CALLS, ...STATE, ...OTHERS])
}
