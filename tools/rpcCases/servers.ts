import { ABSENT_ACCOUNT, ALICE, BOB, EMITTER, REVERTER, TOKEN } from '../../test/support/chains/fixtureChain.js'
import { PARTIAL_FIRST } from '../../test/support/exampleServers.js'
import {
  type CasesByMethod,
  type FixtureHashes,
  joinCases,
  positional,
  quantity,
  type RpcCase,
  UNKNOWN_HASH,
} from './case.js'
import { FEW, MEMORY, MERGE, NAME, SHORT, SMALL, SPIN, STACK_UNDERFLOW } from './serverRequests.js'
import { stateRangeServerCases } from './stateRanges.js'
import { traceServerCases } from './traceServers.js'

/* Cases that are no plain call to a server of the bundled fixture: several calls, a transport, or a server with other
 * options. They are examples only. */

const EVERYTHING = { fromBlock: 'earliest', toBlock: 'latest' }

/** Cases of sessions, and of servers with other options or less data. */
export function serverCases(hashes: FixtureHashes): CasesByMethod {
  return joinCases([
    sessionCases(hashes),
    limitCases(hashes),
    notHeldCases(hashes),
    traceServerCases(hashes),
    stateRangeServerCases(hashes),
    simulationCases(),
  ])
}

/** Subscriptions and filters: their ids are other ones each time. */
function sessionCases(hashes: FixtureHashes): CasesByMethod {
  const ofToken = { address: TOKEN, ...EVERYTHING }
  const newFilter = (filter: object) => [['eth_newFilter', [filter]]] as const
  return {
    eth_sendRawTransaction: { forwarded: { params: [hashes.rawTransaction(25)], on: 'forwarding' } },
    eth_sendRawTransactionSync: {
      forwarded: { params: [hashes.rawTransaction(25), 5000], on: 'forwarding' },
    },
    admin_nodeInfo: { node: { params: [], varies: true } },
    web3_clientVersion: { version: { params: [], varies: true } },
    cairn_explainLogs: { 'transfers-of-the-token': { params: [ofToken], varies: true } },
    eth_subscribe: {
      logs: { params: ['logs', { address: TOKEN }], transport: 'websocket', varies: true },
      receipts: {
        params: ['transactionReceipts', { transactionHashes: [hashes.transaction(25)] }],
        transport: 'websocket',
        varies: true,
      },
      'over-http': { params: ['newHeads'], transport: 'http' },
      'unknown-kind': { params: ['newBlocks'], transport: 'websocket' },
      'reversed-range': { params: ['logs', { fromBlock: '0x2', toBlock: '0x1' }], transport: 'websocket' },
      'five-topics': { params: ['logs', { topics: [null, null, null, null, null] }], transport: 'websocket' },
      'block-hash-and-range': {
        params: ['logs', { blockHash: UNKNOWN_HASH, fromBlock: '0x1' }],
        transport: 'websocket',
      },
      'too-many-values': {
        params: ['logs', { address: [ALICE, BOB, TOKEN] }],
        transport: 'websocket',
        on: FEW,
      },
      'one-more': {
        params: ['newHeads'],
        before: [['eth_subscribe', ['newHeads']]],
        transport: 'websocket',
        on: FEW,
      },
    },
    eth_unsubscribe: {
      'new-heads': { params: ['$1'], before: [['eth_subscribe', ['newHeads']]], transport: 'websocket' },
      'unknown-subscription': { params: ['0x1'], transport: 'websocket' },
    },
    starknet_subscribeNewHeads: {
      'from-a-block': { params: [{ block_number: 5 }], transport: 'websocket', varies: true },
      'over-http': { params: [], transport: 'http' },
      'unknown-block': { params: [{ block_number: 8 }], transport: 'websocket' },
      'pre-confirmed': { params: ['pre_confirmed'], transport: 'websocket' },
      'one-more': {
        params: [],
        before: [['starknet_subscribeNewHeads', []]],
        transport: 'websocket',
        on: FEW,
      },
    },
    starknet_unsubscribe: {
      'new-heads': { params: ['$1'], before: [['starknet_subscribeNewHeads', []]], transport: 'websocket' },
    },
    eth_newFilter: { 'of-the-token': { params: [{ address: TOKEN }], varies: true } },
    eth_newBlockFilter: { blocks: { params: [], varies: true } },
    eth_newPendingTransactionFilter: { transactions: { params: [], varies: true } },
    eth_getFilterChanges: { 'no-new-blocks': { params: ['$1'], before: [['eth_newBlockFilter', []]] } },
    eth_uninstallFilter: {
      'block-filter': { params: ['$1'], before: [['eth_newBlockFilter', []]], example: true },
    },
    eth_getFilterLogs: {
      'one-block': { params: ['$1'], before: newFilter({ fromBlock: '0x1f', toBlock: '0x35', address: TOKEN }) },
      'more-than-10000': { params: ['$1'], before: newFilter(EVERYTHING) },
      'beyond-head': { params: ['$1'], before: newFilter({ fromBlock: '0x0', toBlock: '0x2000' }) },
      'unknown-block-hash': { params: ['$1'], before: newFilter({ blockHash: UNKNOWN_HASH }) },
    },
  }
}

/** Limits, lowered by options. */
function limitCases(hashes: FixtureHashes): CasesByMethod {
  const atOnce = { timeout: '1ms' }
  const threeAddresses = { params: [{ address: [ALICE, BOB, TOKEN] }], on: FEW }
  const slow = { params: [SPIN, MERGE], on: SHORT }
  const memory = { params: [MEMORY, MERGE], on: SMALL }
  const oneFilter = { on: FEW, before: [['eth_newBlockFilter', []]] } as const
  return {
    eth_getLogs: { 'too-many-values': threeAddresses, slow: { params: [EVERYTHING], on: SHORT } },
    eth_getLogsWithCursor: { 'too-many-values': threeAddresses },
    cairn_getDecodedLogs: { 'too-many-values': threeAddresses, slow: { params: [EVERYTHING], on: SHORT } },
    debug_traceTransaction: { slow: { params: [hashes.transaction(54), atOnce] } },
    debug_traceBlockByNumber: { slow: { params: [quantity(54), atOnce] } },
    debug_traceBlockByHash: { slow: { params: [hashes.block(54), atOnce] } },
    debug_traceCall: { slow: { params: [SPIN, 'latest', { ...atOnce, limit: 1 }] } },
    eth_getFilterLogs: { slow: { params: ['$1'], before: [['eth_newFilter', [EVERYTHING]]], on: SHORT } },
    cairn_explainLogs: { 'too-many-values': threeAddresses },
    eth_newFilter: { 'too-many-values': threeAddresses, 'one-more': { params: [{}], ...oneFilter } },
    eth_newBlockFilter: { 'one-more': { params: [], ...oneFilter } },
    eth_newPendingTransactionFilter: { 'one-more': { params: [], ...oneFilter } },
    eth_call: {
      ...overrideCases(),
      ...typedCases(),
      'stack-underflow': { params: [STACK_UNDERFLOW] },
      slow,
      memory,
      'long-return-data': { params: [NAME], on: SMALL },
    },
    eth_createAccessList: { slow, memory },
    eth_estimateGas: {
      ...overrideCases(),
      ...typedCases(),
      'stack-underflow': { params: [STACK_UNDERFLOW] },
      'invalid-opcode': { params: [{ to: REVERTER, data: '0x0cf6c214' }] },
      'both-fee-kinds': { params: [{ to: TOKEN, gasPrice: '0x1', maxFeePerGas: '0x1' }] },
      'other-chain': { params: [{ to: TOKEN, chainId: '0x1' }] },
      slow,
      memory,
    },
  }
}

/** Simulations that fail as a whole. */
function simulationCases(): CasesByMethod {
  const simulate = (block: object, more: object = {}) => positional({ blockStateCalls: [block], ...more }, 'latest')
  const calls = (...list: object[]) => simulate({ calls: list })
  const validated = (call: object) => simulate({ calls: [call] }, { validation: true })
  const overrides = Object.entries(overrideCases()).filter(([name]) => !name.includes('block'))
  const plain = { from: ALICE, to: BOB, gas: '0x5208' }
  return {
    eth_simulateV1: {
      ...Object.fromEntries(
        overrides.map(([name, { params }]) => [
          name,
          simulate({ stateOverrides: (params as object[])[2], calls: [plain] }),
        ]),
      ),
      'nonce-too-low': validated({ ...plain, nonce: '0x0' }),
      'fee-below-base-fee': validated({ ...plain, maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x0' }),
      'gas-below-intrinsic': calls({ ...plain, gas: '0x1' }),
      'value-above-balance': calls({ from: ABSENT_ACCOUNT, to: BOB, value: '0x1' }),
      'gas-limit-reached': simulate({ blockOverrides: { gasLimit: '0x5300' }, calls: [plain, plain] }),
      'too-many-blocks': simulate({ blockOverrides: { number: '0x10000' } }),
      'other-chain': calls({ ...plain, chainId: '0x1' }),
      'both-fee-kinds': calls({ ...plain, gasPrice: '0x1', maxFeePerGas: '0x1' }),
      'blob-creation': calls({ data: '0x00', blobVersionedHashes: [] }),
      'authorized-creation': calls({ data: '0x00', authorizationList: [] }),
      'fee-cap-before-london': positional(
        { blockStateCalls: [{ calls: [{ ...plain, maxFeePerGas: '0x1' }] }] },
        '0x10',
      ),
      'blobs-before-cancun': positional({ blockStateCalls: [{ calls: [{ ...plain, ...ONE_BLOB }] }] }, '0x20'),
      'difficulty-after-the-merge': simulate({ blockOverrides: { difficulty: '0x1' } }),
      'unknown-override': simulate({ blockOverrides: { coinbas: BOB } }),
      'beyond-head': positional({ blockStateCalls: [{}] }, '0x1000'),
      'state-not-held': { params: [{ blockStateCalls: [{}] }, 'latest'], on: 'partial' },
    },
    eth_createAccessList: {
      ...typedCases(),
      ...Object.fromEntries(overrides),
      'other-chain': positional({ ...plain, chainId: '0x1' }),
      'both-fee-kinds': positional({ ...plain, gasPrice: '0x1', maxFeePerGas: '0x1' }),
      'beyond-head': positional(plain, '0x1000'),
    },
    eth_getProof: {
      'too-many-keys': positional(
        TOKEN,
        Array.from({ length: 1025 }, () => '0x2'),
        'latest',
      ),
      'beyond-head': positional(ALICE, [], '0x1000'),
    },
  }
}

const ONE_BLOB = { blobVersionedHashes: [`0x01${'11'.repeat(31)}`] }

/** Members of transactions that a call cannot have. */
function typedCases(): { [name: string]: RpcCase } {
  return {
    'blob-creation': positional({ data: '0x00', blobVersionedHashes: [] }, 'latest'),
    'authorized-creation': positional({ data: '0x00', authorizationList: [] }, 'latest'),
    'blob-fee-without-blobs': positional({ to: BOB, maxFeePerBlobGas: '0x1' }, 'latest'),
    'fee-cap-before-london': positional({ to: BOB, maxFeePerGas: '0x1' }, '0x10'),
    'access-list-before-berlin': positional({ to: BOB, accessList: [] }, '0x10'),
    'blobs-before-cancun': positional({ to: BOB, ...ONE_BLOB }, '0x20'),
    'authorizations-before-prague': positional({ to: BOB, authorizationList: [] }, '0x25'),
  }
}

/** Overrides that contradict one another. */
function overrideCases(): { [name: string]: RpcCase } {
  const identity = '0x0000000000000000000000000000000000000004'
  const overridden = (...overrides: object[]) => positional({ to: BOB }, 'latest', ...overrides)
  const moved = { movePrecompileToAddress: BOB }
  return {
    'overrides-not-a-precompile': overridden({ [TOKEN]: moved }),
    'overrides-overridden-twice': overridden({ [identity]: moved, [BOB]: { nonce: '0x1' } }),
    'overrides-state-and-difference': overridden({ [TOKEN]: { state: {}, stateDiff: {} } }),
    'overrides-block-withdrawals': overridden({}, { withdrawals: [] }),
    'overrides-block-aliases': positional({ data: '0x4160005242602052606060006000f3' }, 'latest', null, {
      ...{ coinbase: BOB, timestamp: '0x7fffffff', blockNumber: '0x100' },
    }),
    'overrides-block-unknown': overridden({}, { coinbas: BOB }),
    'overrides-unknown': overridden({ [TOKEN]: { stateDif: {} } }),
  }
}

/** What a server says of blocks that it does not hold. */
function notHeldCases(hashes: FixtureHashes): CasesByMethod {
  const below = quantity(PARTIAL_FIRST - 35)
  const held = quantity(PARTIAL_FIRST + 5)
  const parent = hashes.block(PARTIAL_FIRST - 1)
  const unavailable = (...params: unknown[]) => ({ 'not-held': { params, on: 'partial' } })
  const noState = (...params: unknown[]) => ({ 'state-not-held': { params, on: 'partial' } })
  const filling = (...params: unknown[]) => ({ 'not-fetched': { params, on: 'filling' } })
  const byHash = (...more: unknown[]) => ({ ...unavailable(parent, ...more), ...filling(UNKNOWN_HASH, ...more) })
  const fromBelow = { fromBlock: below, toBlock: 'latest' }
  return {
    eth_getBlockByNumber: unavailable(below, false),
    eth_getBlockByHash: byHash(false),
    eth_getHeaderByNumber: unavailable(below),
    eth_getHeaderByHash: byHash(),
    eth_getBlockReceipts: byHash(),
    eth_getBlockAccessList: unavailable(below),
    eth_getBlockTransactionCountByHash: byHash(),
    eth_getBlockTransactionCountByNumber: unavailable(below),
    eth_getUncleByBlockHashAndIndex: byHash('0x0'),
    eth_getUncleByBlockNumberAndIndex: unavailable(below, '0x0'),
    eth_getUncleCountByBlockHash: byHash(),
    eth_getUncleCountByBlockNumber: unavailable(below),
    eth_getTransactionByHash: filling(UNKNOWN_HASH),
    eth_getTransactionReceipt: filling(UNKNOWN_HASH),
    eth_getTransactionByBlockHashAndIndex: byHash('0x0'),
    eth_getTransactionByBlockNumberAndIndex: unavailable(below, '0x0'),
    eth_getRawTransactionByHash: filling(UNKNOWN_HASH),
    eth_getRawTransactionByBlockHashAndIndex: byHash('0x0'),
    eth_getRawTransactionByBlockNumberAndIndex: unavailable(below, '0x0'),
    eth_fillTransaction: noState({ from: ALICE, to: BOB }),
    debug_printBlock: unavailable(below),
    debug_getRawTransaction: filling(UNKNOWN_HASH),
    debug_getRawBlock: byHash(),
    debug_getRawHeader: byHash(),
    debug_getRawReceipts: byHash(),
    debug_getRawBlockAccessList: unavailable(below),
    debug_traceTransaction: { ...noState(hashes.transaction(55)), ...filling(UNKNOWN_HASH) },
    debug_traceBlock: noState(hashes.rawBlock(55)),
    debug_traceCall: noState(NAME, held),
    debug_traceBlockByNumber: { ...unavailable(below), ...noState('latest') },
    debug_traceBlockByHash: { ...noState(hashes.block(55)), ...filling(UNKNOWN_HASH) },
    eth_getLogs: unavailable(fromBelow),
    cairn_getDecodedLogs: unavailable(fromBelow),
    cairn_getTokenTransfers: unavailable({ fromBlock: below }),
    cairn_getDecodedTransaction: filling(UNKNOWN_HASH),
    cairn_getDecodedCalls: { ...noState(hashes.transaction(55)), ...filling(UNKNOWN_HASH) },
    eth_getLogsWithCursor: unavailable(fromBelow),
    eth_getFilterLogs: { 'not-held': { params: ['$1'], before: [['eth_newFilter', [fromBelow]]], on: 'partial' } },
    eth_call: noState(NAME, held),
    eth_createAccessList: noState(NAME, held),
    eth_estimateGas: noState({ to: EMITTER }, held),
    eth_getBalance: noState(ALICE, held),
    eth_getAccountInfo: noState(ALICE, held),
    eth_getTransactionBySenderAndNonce: noState(ALICE, '0x0'),
    eth_getCode: noState(TOKEN, held),
    cairn_getAbi: noState(TOKEN, held),
    eth_getStorageAt: noState(TOKEN, '0x2', held),
    eth_getStorageValues: noState({ [TOKEN]: ['0x2'] }, held),
    eth_getTransactionCount: noState(ALICE, held),
    starknet_blockNumber: { 'no-blocks': { params: [], on: 'partial' } },
    starknet_blockHashAndNumber: { 'no-blocks': { params: [], on: 'partial' } },
  }
}
