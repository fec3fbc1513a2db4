import { ABSENT_ACCOUNT, ALICE, BOB, HEAD, TRANSFERS } from '../../test/support/chains/fixtureChain.js'
import { type CasesByMethod, type FixtureHashes, largeCases, positional, quantity, UNKNOWN_HASH } from './case.js'

/** A block that has the kind of transaction first, by name. */
const KINDS = {
  'legacy-without-chain-id': 1,
  'legacy-creation': 15,
  'legacy-call': 21,
  'access-list': 22,
  'dynamic-fee': 25,
  blob: 37,
  delegation: 40,
} as const

/** Cases of the methods that read transactions and receipts. */
export function transactionCases(hashes: FixtureHashes): CasesByMethod {
  const at = quantity
  const eachKind = <T>(make: (block: number) => T) =>
    Object.fromEntries(Object.entries(KINDS).map(([name, block]) => [name, make(block)]))
  const lastTransfer = TRANSFERS[TRANSFERS.length - 1].block
  return {
    eth_sendRawTransaction: {
      'not-forwarded': positional('0x02c0'),
      'not-hex': positional('hello'),
      missing: positional(),
      'too-many': positional('0x02c0', 1),
    },
    eth_sendRawTransactionSync: {
      'not-forwarded': positional('0x02c0'),
      'bad-timeout': positional('0x02c0', -1),
      missing: positional(),
    },
    eth_getTransactionBySenderAndNonce: {
      first: positional(ALICE, '0x0'),
      delegation: positional(ALICE, '0xe'),
      'not-sent': positional(ABSENT_ACCOUNT, '0x0'),
      missing: positional(ALICE),
    },
    eth_getTransactionByHash: {
      ...eachKind((block) => positional(hashes.transaction(block))),
      unknown: positional(UNKNOWN_HASH),
      'bad-hash': positional('0xzz'),
      'no-params': positional(),
    },
    eth_getTransactionByBlockHashAndIndex: {
      ...largeCases((large) => positional(hashes.block(15), large)),

      second: positional(hashes.block(15), '0x1'),
      'no-such-index': positional(hashes.block(15), '0x2'),
      unknown: positional(UNKNOWN_HASH, '0x0'),
      'missing-index': positional(hashes.block(15)),
    },
    eth_getTransactionByBlockNumberAndIndex: {
      ...largeCases((large) => positional(large, '0x0')),
      'large-index': positional(at(21), '0xffffffffffffffff'),

      ...eachKind((block) => positional(at(block), '0x0')),
      'last-of-five': positional(at(21), '0x4'),
      'no-such-index': positional(at(21), '0x5'),
      'beyond-head': positional(at(HEAD + 1), '0x0'),
      latest: positional('latest', '0x0'),
      'bad-index': positional(at(21), '0x04'),
    },
    eth_getRawTransactionByHash: {
      ...eachKind((block) => positional(hashes.transaction(block))),
      unknown: positional(UNKNOWN_HASH),
      'bad-hash': positional('0xzz'),
      'no-params': positional(),
    },
    eth_getRawTransactionByBlockHashAndIndex: {
      ...largeCases((large) => positional(hashes.block(15), large)),

      second: positional(hashes.block(15), '0x1'),
      'no-such-index': positional(hashes.block(15), '0x2'),
      unknown: positional(UNKNOWN_HASH, '0x0'),
      'missing-index': positional(hashes.block(15)),
    },
    eth_getRawTransactionByBlockNumberAndIndex: {
      ...largeCases((large) => positional(large, '0x0')),

      'last-of-five': positional(at(21), '0x4'),
      'no-such-index': positional(at(21), '0x5'),
      'beyond-head': positional(at(HEAD + 1), '0x0'),
      pending: positional('pending', '0x0'),
      'bad-index': positional(at(21), '0x04'),
    },
    eth_fillTransaction: fillCases(),
    cairn_getDecodedTransaction: {
      'token-transfer': { ...positional(hashes.transaction(lastTransfer)), example: true },
      'unknown-function': positional(hashes.transaction(5, 1)),
      'contract-creation': positional(hashes.transaction(2)),
      'plain-transfer': positional(hashes.transaction(61)),
      'reverted-string': positional(hashes.transaction(21, 0)),
      'reverted-panic': positional(hashes.transaction(21, 1)),
      'reverted-custom': positional(hashes.transaction(21, 2)),
      'reverted-empty': positional(hashes.transaction(21, 3)),
      'invalid-opcode': positional(hashes.transaction(21, 4)),
      'unknown-hash': positional(UNKNOWN_HASH),
      'short-hash': positional('0x12'),
      'one-parameter-too-many': positional(hashes.transaction(2), true),
      'no-params': positional(),
    },
    cairn_getDecodedCalls: {
      'token-transfer': { ...positional(hashes.transaction(lastTransfer)), example: true },
      'contract-creation': positional(hashes.transaction(2)),
      'reverted-panic': positional(hashes.transaction(21, 1)),
      'reverted-custom': positional(hashes.transaction(21, 2)),
      'invalid-opcode': positional(hashes.transaction(21, 4)),
      'unknown-hash': positional(UNKNOWN_HASH),
      'short-hash': positional('0x12'),
      'one-parameter-too-many': positional(hashes.transaction(2), true),
      'no-params': positional(),
    },
    eth_getTransactionReceipt: {
      ...eachKind((block) => positional(hashes.transaction(block))),
      'pre-byzantium-creation': positional(hashes.transaction(2)),
      'pre-byzantium-logs': positional(hashes.transaction(5, 1)),
      'token-transfer': positional(hashes.transaction(lastTransfer)),
      'reverted-custom': positional(hashes.transaction(21, 2)),
      'invalid-opcode': positional(hashes.transaction(21, 4)),
      'create2-child': positional(hashes.transaction(17)),
      selfdestruct: positional(hashes.transaction(19)),
      'ether-transfer-in-amsterdam': positional(hashes.transaction(61)),
      'forwarded-in-amsterdam': positional(hashes.transaction(64)),
      'reverted-in-amsterdam': positional(hashes.transaction(64, 1)),
      'selfdestruct-to-itself-in-amsterdam': positional(hashes.transaction(69)),
      unknown: positional(UNKNOWN_HASH),
      'bad-hash': positional('0x1'),
    },
    eth_getBlockReceipts: {
      ...largeCases((large) => positional(large)),
      'large-decimal': positional(2 ** 60),
      'large-decimal-text': positional('18446744073709551616'),
      'negative-decimal': positional(-1),

      'pre-byzantium': positional(at(9)),
      failures: positional(at(21)),
      'two-transfers': positional(at(31)),
      blobs: positional(at(49)),
      'amsterdam-refunds': positional(at(65)),
      'amsterdam-data-floor': positional(at(67)),
      'amsterdam-delegation': positional(at(71)),
      'decimal-number': positional(17),
      'decimal-text': positional('17'),
      'by-hash': positional(hashes.block(25)),
      pending: positional('pending'),
      earliest: positional('earliest'),
      'beyond-head': positional(at(HEAD + 1)),
      'unknown-hash': positional(UNKNOWN_HASH),
      'bad-block': positional('first'),
    },
    debug_getRawTransaction: {
      ...eachKind((block) => positional(hashes.transaction(block))),
      unknown: positional(UNKNOWN_HASH),
    },
  }
}

function fillCases() {
  const plain = { from: ALICE, to: BOB }
  const whole = { ...plain, gas: '0x5208', nonce: '0x7' }
  const authorization = { chainId: '0x0', address: BOB, nonce: '0x0', yParity: '0x0', r: '0x1', s: '0x1' }
  const blobs = [`0x01${'00'.repeat(31)}`]
  return {
    transfer: { ...positional({ ...plain, value: '0x1' }), example: true as const },
    'gas-price': positional({ ...plain, gasPrice: '0x9999999999' }),
    'gas-price-and-list': positional({ ...plain, gasPrice: '0x9999999999', accessList: [] }),
    delegation: positional({ ...plain, authorizationList: [authorization] }),
    blobs: positional({ ...plain, blobVersionedHashes: blobs }),
    creation: positional({ from: ALICE, data: '0x00' }),
    whole: positional({ ...whole, maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x1', value: '0x2' }),
    'no-data': positional({ from: ALICE }),
    'no-blobs': positional({ ...plain, blobVersionedHashes: [] }),
    'blobs-without-to': positional({ from: ALICE, data: '0x00', blobVersionedHashes: blobs }),
    'authorizations-without-to': positional({ from: ALICE, data: '0x00', authorizationList: [authorization] }),
    'authorizations-and-gas-price': positional({ ...plain, gasPrice: '0x1', authorizationList: [authorization] }),
    'both-fee-kinds': positional({ ...plain, gasPrice: '0x1', maxFeePerGas: '0x1' }),
    'zero-gas-price': positional({ ...whole, gasPrice: '0x0' }),
    'zero-fee': positional({ ...whole, maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x0' }),
    'zero-blob-fee': positional({ ...whole, maxFeePerBlobGas: '0x0' }),
    'fee-below-tip': positional({ ...whole, maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x2' }),
    'other-chain': positional({ ...whole, chainId: '0x1' }),
    sidecar: positional({ ...plain, blobs: ['0x12'] }),
    unpayable: positional({ from: ABSENT_ACCOUNT, to: BOB, value: '0xffffffffffffffffffffffff' }),
    'no-params': positional(),
  }
}
