import { ALICE, AMSTERDAM_PROBE, BOB, CAROL, TOKEN } from '../../test/support/chains/fixtureChain.js'
import { PARTIAL_FIRST } from '../../test/support/exampleServers.js'
import { type CasesByMethod, type FixtureHashes, quantity, UNKNOWN_HASH } from './case.js'
import { NAME, SHORT, SPIN } from './serverRequests.js'

const TRACES = '--traces on'
const ALL = { fromBlock: '0x0', toBlock: '0x4a' }

/** Traces in the shape of OpenEthereum: those that take too long, and those of what is not available. */
export function traceServerCases(hashes: FixtureHashes): CasesByMethod {
  const kinds = ['vmTrace']
  const slow = (...params: unknown[]) => ({ slow: { params, on: SHORT } })
  const noState = (...params: unknown[]) => ({ 'state-not-held': { params, on: 'partial' } })
  const below = quantity(PARTIAL_FIRST - 35)
  const unavailable = (...params: unknown[]) => ({ 'not-held': { params, on: 'partial' } })
  const filling = (...params: unknown[]) => ({ 'not-fetched': { params, on: 'filling' } })
  const noIndex = (...params: unknown[]) => ({ 'no-index': { params, on: '--address-index off' } })
  const [manyLogs, held, unknownBlock] = [quantity(54), quantity(55), '0xffffff']
  const parent = hashes.block(PARTIAL_FIRST - 1)
  const recent = hashes.transaction(55)
  const refused = { from: ALICE, to: BOB, gas: '0x1' }
  const raw = hashes.rawTransaction(54)
  return {
    cairn_getInternalTransfers: {
      'of-carol': { params: [{ account: CAROL, ...ALL }], on: TRACES, example: true },
      'no-trace-index': { params: [{ account: BOB }] },
      'no-index': { params: [{ account: BOB }], on: `${TRACES} --address-index off` },
      'altered-cursor': { params: [{ account: BOB, cursor: 'A'.repeat(64) }], on: TRACES },
      'reversed-range': { params: [{ account: BOB, fromBlock: '0x5', toBlock: '0x4' }], on: TRACES },
      'beyond-head': { params: [{ account: BOB, toBlock: unknownBlock }], on: TRACES },
    },
    cairn_getContractSources: noState(TOKEN, held),
    cairn_getStorageVariables: noState(TOKEN, held),
    trace_block: { ...slow(manyLogs), ...unavailable(below), ...noState(held) },
    trace_transaction: { ...slow(recent), ...filling(UNKNOWN_HASH), ...noState(recent) },
    trace_filter: {
      ...slow({ fromBlock: manyLogs, toBlock: 'latest' }),
      ...unavailable({ fromBlock: below, toBlock: below }),
      ...noState({ fromBlock: held, toBlock: held }),
    },
    trace_get: { ...slow(recent, ['0x0']), ...filling(UNKNOWN_HASH, ['0x0']), ...noState(recent, ['0x0']) },
    erigon_getHeaderByNumber: unavailable(below),
    ots_hasCode: noState(TOKEN, held),
    ots_getBlockDetails: unavailable(below),
    ots_getBlockDetailsByHash: { ...unavailable(parent), ...filling(UNKNOWN_HASH) },
    ots_getBlockTransactions: unavailable(below, 0, 2),
    ots_searchTransactionsBefore: { ...noIndex(ALICE, 0, 25), 'no-state': { params: [TOKEN, 0, 1], on: 'partial' } },
    ots_searchTransactionsAfter: noIndex(ALICE, 0, 25),
    ots_getTransactionBySenderAndNonce: noState(ALICE, 0),
    ots_getContractCreator: { ...noState(TOKEN), 'no-state': { params: [AMSTERDAM_PROBE], on: 'partial' } },
    ots_getTransactionError: { ...filling(UNKNOWN_HASH), ...noState(recent) },
    ots_getInternalOperations: { ...filling(UNKNOWN_HASH), ...noState(recent) },
    ots_traceTransaction: { ...filling(UNKNOWN_HASH), ...noState(recent) },
    debug_executionWitness: { ...unavailable(below), ...noState(held), genesis: { params: ['0x0'] } },
    eth_getProof: noState(ALICE, [], held),
    trace_call: {
      'unknown-block': { params: [NAME, kinds, unknownBlock] },
      'gas-below-intrinsic': { params: [refused, kinds] },
      ...slow(SPIN, kinds),
      ...noState(NAME, kinds, 'latest'),
    },
    trace_callMany: {
      'unknown-block': { params: [[[NAME, kinds]], unknownBlock] },
      'gas-below-intrinsic': { params: [[[refused, kinds]]] },
      ...slow([[SPIN, kinds]]),
      ...noState([[NAME, kinds]], 'latest'),
    },
    trace_rawTransaction: {
      transfer: { params: [hashes.rawTransaction(25), ['trace']] },
      ...slow(raw, kinds),
      ...noState(raw, kinds),
    },
    trace_replayTransaction: { ...slow(recent, kinds), ...filling(UNKNOWN_HASH, kinds), ...noState(recent, kinds) },
    trace_replayBlockTransactions: { ...slow(manyLogs, kinds), ...unavailable(below, kinds), ...noState(held, kinds) },
  }
}
