import { ABSENT_ACCOUNT, ALICE, BOB, REVERTER, TOKEN } from '../../test/support/chains/fixtureChain.js'
import { type CasesByMethod, type FixtureHashes, positional, quantity, UNKNOWN_HASH, word } from './case.js'

const CALLS = { tracer: 'callTracer', tracerConfig: { withLog: true } }
/** The example of EIP-155. */
const MAINNET_TRANSACTION =
  '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe5375678' +
  '66003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83'
const PRESTATE = { tracer: 'prestateTracer' }
const DIFFERENCE = { ...PRESTATE, tracerConfig: { diffMode: true } }

/** Cases of the methods that execute blocks again. */
export function traceCases(hashes: FixtureHashes): CasesByMethod {
  const transfer = hashes.transaction(22)
  const failing = { from: BOB, to: REVERTER, data: '0xf8f50b81' } // failString()
  const balance = { to: TOKEN, data: `0x70a08231${word(BOB).slice(2)}` } // balanceOf(BOB)
  const union = { fromAddress: [ALICE], toAddress: [TOKEN], mode: 'union' }
  return {
    debug_traceTransaction: {
      'struct-logs': positional(hashes.transaction(5), { enableMemory: true, enableReturnData: true }),
      'no-stack': positional(hashes.transaction(5), { disableStack: true, disableStorage: true, limit: 300 }),
      calls: positional(transfer, CALLS),
      'top-call': positional(transfer, { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } }),
      prestate: positional(transfer, PRESTATE),
      difference: positional(transfer, DIFFERENCE),
      flat: positional(transfer, { tracer: 'flatCallTracer' }),
      selectors: positional(transfer, { tracer: '4byteTracer' }),
      preimages: positional(transfer, { tracer: 'keccak256PreimageTracer' }),
      erc7562: positional(transfer, { tracer: 'erc7562Tracer', tracerConfig: { withLog: true } }),
      'erc7562-ignored': positional(transfer, { tracer: 'erc7562Tracer', tracerConfig: { ignoredOpcodes: ['0x54'] } }),
      noop: positional(transfer, { tracer: 'noopTracer', timeout: '10s', reexec: 128 }),
      mux: positional(transfer, { tracer: 'muxTracer', tracerConfig: { '4byteTracer': {}, noopTracer: {} } }),
      'unknown-tracer': positional(transfer, { tracer: 'stateTracer' }),
      javascript: positional(transfer, { tracer: '{ step: function() {} }' }),
      'bad-timeout': positional(transfer, { timeout: 'soon' }),
      'unknown-option': positional(transfer, { enablememories: true }),
      'unknown-tracer-option': positional(transfer, { tracer: 'callTracer', tracerConfig: { withLogs: true } }),
      'options-without-a-tracer': positional(transfer, { tracerConfig: { withLog: true } }),
      unknown: positional(UNKNOWN_HASH),
      missing: positional(),
      'too-many': positional(transfer, {}, 1),
    },
    trace_block: {
      calls: positional(quantity(22)),
      mined: positional(quantity(1)),
      genesis: positional('0x0'),
      beyond: positional('0xffffff'),
      missing: positional(),
    },
    trace_transaction: { calls: positional(transfer), unknown: positional(UNKNOWN_HASH), missing: positional() },
    trace_filter: {
      'to-token': positional({ fromBlock: quantity(1), toBlock: quantity(30), toAddress: [TOKEN], after: 1, count: 2 }),
      none: positional({ fromBlock: quantity(1), toBlock: quantity(30), fromAddress: [ABSENT_ACCOUNT] }),
      'bad-address': positional({ toAddress: ['0x12'] }),
      union: positional({ ...{ fromBlock: quantity(20), toBlock: quantity(24) }, ...union }),
      'by-block-hash': positional({ blockHash: hashes.block(22) }),
      'block-hash-and-bound': positional({ blockHash: hashes.block(22), toBlock: 'latest' }),
      'unknown-block-hash': positional({ blockHash: UNKNOWN_HASH }),
      reversed: positional({ fromBlock: quantity(20), toBlock: quantity(10) }),
      'beyond-head': positional({ fromBlock: quantity(20), toBlock: quantity(0xffffff) }),
      'unknown-member': positional({ fromBlok: quantity(20) }),
      'unknown-mode': positional({ mode: 'both' }),
      missing: positional(),
    },
    trace_get: {
      first: positional(transfer, []),
      none: positional(transfer, ['0x9']),
      unknown: positional(UNKNOWN_HASH, []),
      missing: positional(transfer),
    },
    trace_call: {
      calls: positional(failing, ['trace']),
      difference: positional({ from: ALICE, to: ABSENT_ACCOUNT, value: '0x1' }, ['stateDiff'], 'latest'),
      instructions: positional({ data: '0x602a5f5260205ff3' }, ['vmTrace'], 'latest'),
      'state-override': positional({ to: ABSENT_ACCOUNT }, ['trace'], 'latest', {
        [ABSENT_ACCOUNT]: { code: '0x602a5f5260205ff3' },
      }),
      'block-override': positional({ data: '0x435f5260205ff3' }, ['trace'], 'latest', null, { number: '0x539' }),
      'bad-override': positional({ to: ABSENT_ACCOUNT }, ['trace'], 'latest', { [ABSENT_ACCOUNT]: { code: '0x1' } }),
      'unknown-kind': positional(failing, ['gas']),
      missing: positional(failing),
    },
    trace_callMany: {
      two: positional([
        [failing, ['trace']],
        [{ from: ALICE, to: ABSENT_ACCOUNT, value: '0x1' }, ['stateDiff']],
      ]),
      'not-a-pair': positional([[failing]]),
      missing: positional(),
    },
    trace_rawTransaction: {
      'not-a-transaction': positional('0x1234', ['trace']),
      'of-another-chain': positional(MAINNET_TRANSACTION, ['trace']),
      missing: positional(),
    },
    trace_replayTransaction: {
      all: positional(hashes.transaction(5), ['trace', 'stateDiff', 'vmTrace']),
      nothing: positional(transfer, []),
      unknown: positional(UNKNOWN_HASH, ['trace']),
      missing: positional(transfer),
    },
    trace_replayBlockTransactions: {
      difference: positional(quantity(22), ['stateDiff']),
      genesis: positional('0x0', ['trace']),
      missing: positional(quantity(22)),
    },
    debug_traceBlockByNumber: {
      calls: positional(quantity(22), CALLS),
      genesis: positional('0x0'),
      beyond: positional('0xffffff'),
      'not-hex': positional('3'),
      missing: positional(),
    },
    debug_traceBlock: {
      calls: positional(hashes.rawBlock(22), CALLS),
      genesis: positional(hashes.rawBlock(0)),
      'unknown-parent': positional(hashes.rawBlock(22, { parentHash: UNKNOWN_HASH }), CALLS),
      'wrong-nonce': positional(hashes.rawBlock(22, { parentHash: hashes.block(22), number: 23 }), CALLS),
      'not-rlp': positional('0x1234'),
      empty: positional('0x'),
      missing: positional(),
    },
    debug_traceCall: {
      calls: positional(failing, 'latest', CALLS),
      before: positional(balance, quantity(22), { ...CALLS, txIndex: '0x0' }),
      'state-override': positional({ to: ABSENT_ACCOUNT }, 'latest', {
        stateOverrides: { [ABSENT_ACCOUNT]: { code: '0x435f5260205ff3' } },
        blockOverrides: { number: '0x539' },
      }),
      'fee-below-base-fee': positional({ ...balance, gasPrice: '0x1' }, 'latest', CALLS),
      difference: positional({ from: ALICE, to: ABSENT_ACCOUNT, value: '0x1' }, 'latest', DIFFERENCE),
      'unknown-block': positional(balance, UNKNOWN_HASH),
      'index-out-of-range': positional(balance, quantity(22), { ...CALLS, txIndex: '0x9' }),
      'index-in-genesis': positional(balance, '0x0', { ...CALLS, txIndex: '0x0' }),
      'unknown-override': positional(balance, 'latest', { blockOverrides: { tim: '0x1' } }),
      missing: positional(),
    },
    debug_traceBlockByHash: {
      calls: positional(hashes.block(22), CALLS),
      genesis: positional(hashes.block(0)),
      unknown: positional(UNKNOWN_HASH),
      missing: positional(),
    },
  }
}
