/* Calls with the members of each kind of transaction, at blocks of every fork of the bundled chain. */

/** First blocks of forks of the bundled chain, by number or time (fixtures/chain/genesis.json). */
export const FIRST_BLOCK = { berlin: 22, london: 25, shanghai: 33, cancun: 36, prague: 40 } as const
export type TypedFork = keyof typeof FIRST_BLOCK

const TO = '0x00000000000000000000000000000000deadbeef'
const HASH = `0x01${'11'.repeat(31)}`
const AUTHORIZATION = { chainId: '0x0', address: TO, nonce: '0x0', yParity: '0x0', r: '0x1', s: '0x1' }

/** Members that need a fork, by name of the case. */
export const TYPED_CALLS: { readonly [name: string]: { readonly call: object; readonly needs: TypedFork } } = {
  'access list': { call: { to: TO, accessList: [{ address: TO, storageKeys: [] }] }, needs: 'berlin' },
  'empty access list': { call: { to: TO, accessList: [] }, needs: 'berlin' },
  'fee cap': { call: { to: TO, maxFeePerGas: '0x0' }, needs: 'london' },
  tip: { call: { to: TO, maxPriorityFeePerGas: '0x0' }, needs: 'london' },
  blobs: { call: { to: TO, blobVersionedHashes: [HASH] }, needs: 'cancun' },
  'blobs with a cap': { call: { to: TO, blobVersionedHashes: [HASH], maxFeePerBlobGas: '0x0' }, needs: 'cancun' },
  authorizations: { call: { to: TO, authorizationList: [AUTHORIZATION] }, needs: 'prague' },
}

/** Calls that are wrong in every fork. */
export const WRONG_CALLS: { readonly [name: string]: object } = {
  'blob creation': { data: '0x00', blobVersionedHashes: [HASH] },
  'authorized creation': { data: '0x00', authorizationList: [AUTHORIZATION] },
  'two fees': { to: TO, gasPrice: '0x1', maxFeePerGas: '0x1' },
  'other chain': { to: TO, chainId: '0x1' },
  'no blobs': { to: TO, blobVersionedHashes: [] },
  'no authorizations': { to: TO, authorizationList: [] },
  'wrong version': { to: TO, blobVersionedHashes: [`0x02${'11'.repeat(31)}`] },
  'too little gas': { to: TO, gas: '0x5207' },
  'too poor': { from: TO, to: TO, value: '0x1' },
}

/** Methods that run a call, and their parameters for it at a block. */
export const CALL_METHODS: { readonly [method: string]: (call: object, block: string) => unknown[] } = {
  eth_call: (call, block) => [call, block],
  eth_estimateGas: (call, block) => [call, block],
  eth_createAccessList: (call, block) => [call, block],
  debug_traceCall: (call, block) => [call, block, { tracer: 'callTracer' }],
  eth_simulateV1: (call, block) => [{ blockStateCalls: [{ calls: [call] }] }, block],
}

/** Code that returns what a fork has brought: 32 zero bytes, BASEFEE, 7, a copy, BLOBBASEFEE; and SLOTNUM. */
export const PROBES: { readonly [fork: string]: string } = {
  istanbul: '0x465060206000f3',
  london: '0x485060206000f3',
  shanghai: '0x5f60206000f3',
  cancun: '0x4a60005260206000f3',
  amsterdam: '0x4b5060206000f3',
}
