import type { ProxyFault } from './changingProxy.js'
import type { UpstreamCall } from './scriptedUpstream.js'
import type { Json } from './upstreamLies.js'

/** A proxy that changes one kind of member of its answers about state. */
export interface StateLie extends ProxyFault {
  readonly name: string
  /** How blocks are fetched so that the member is asked for. */
  readonly mode: 'proofs' | 'witness'
  /** The check that names it; undefined where nothing depends on the member. */
  readonly check?: RegExp
  /** Executing blocks asks for the member. */
  readonly isOfBlocks: boolean
  /** Requests of clients ask for the member. */
  readonly isOfRequests?: boolean
}

/** Hex data with another last byte. */
function flip(hex: string): string {
  const last = Number.parseInt(hex.slice(-2), 16) ^ 1
  return hex.slice(0, -2) + last.toString(16).padStart(2, '0')
}

/** Another quantity, or other hex data of 32 bytes. */
function bump(value: unknown): string {
  const text = value as string
  return text.length === 66 ? flip(text) : `0x${(BigInt(text) + 1n).toString(16)}`
}

function proofLie(name: string, check: RegExp, change: (proof: Json) => void): StateLie {
  return {
    ...{ name, check, mode: 'proofs', isOfBlocks: true, isOfRequests: true },
    result: ({ method }, result) => {
      if (method !== 'eth_getProof') return result
      const proof = structuredClone(result) as Json
      change(proof)
      return proof
    },
  }
}

const memberLie = (member: string) =>
  proofLie(`another ${member} beside a proof`, /^proof: account$/, (proof) => {
    proof[member] = bump(proof[member])
  })

function slotLie(name: string, change: (slot: Json) => void): StateLie {
  return proofLie(name, /^proof: slot$/, ({ storageProof }) => {
    for (const slot of storageProof as Json[]) change(slot)
  })
}

function flipNode(nodes: unknown, index: number): void {
  const list = nodes as string[]
  if (list.length > 0) list[list.length + index] = flip(list[list.length + index])
}

function witnessLie(name: string, check: RegExp | undefined, change: (witness: Json) => void): StateLie {
  return {
    ...{ name, check, mode: 'witness', isOfBlocks: true },
    result: ({ method }, result) => {
      if (method !== 'debug_executionWitness' || !result) return result
      const witness = structuredClone(result) as Json
      change(witness)
      return witness
    },
  }
}

function hintLie(name: string, method: string, change: (result: unknown) => unknown): StateLie {
  return {
    ...{ name, mode: 'proofs', isOfBlocks: false, isOfRequests: true },
    result: (call, result) => (call.method === method ? change(result) : result),
  }
}

const nonsense = (i: number) => `0x${i.toString(16).padStart(40, 'e')}`

/** The same call about an earlier block. */
function ofEarlierBlock(methods: RegExp): (call: UpstreamCall) => UpstreamCall {
  return (call) => (methods.test(call.method) ? { ...call, params: [...call.params.slice(0, -1), '0x0'] } : call)
}

/** Lies about every kind of member of state that an upstream is asked for. */
export const STATE_LIES: readonly StateLie[] = [
  proofLie('another leaf in an account proof', /^proof: account$/, ({ accountProof }) => flipNode(accountProof, -1)),
  proofLie('an account proof without its leaf', /^proof: account$/, (proof) => {
    ;(proof.accountProof as string[]).pop()
  }),
  slotLie('another leaf in a storage proof', ({ proof }) => flipNode(proof, -1)),
  slotLie('another value beside a storage proof', (slot) => {
    slot.value = bump(slot.value)
  }),
  ...['balance', 'nonce', 'codeHash', 'storageHash'].map(memberLie),
  {
    ...{ name: 'another code', check: /^code hash$/, mode: 'proofs', isOfBlocks: true, isOfRequests: true },
    result: ({ method }, result) => (method === 'eth_getCode' && result !== '0x' ? flip(result as string) : result),
  },
  {
    ...{
      name: 'proofs of another block',
      check: /^proof: account$/,
      mode: 'proofs',
      isOfBlocks: true,
      isOfRequests: true,
    },
    call: ofEarlierBlock(/^eth_getProof$/),
  },
  witnessLie('another node in a witness', /^witness: node$/, ({ state }) => flipNode(state, -2)),
  witnessLie('every node of a witness is another one', /^witness: node$/, (witness) => {
    witness.state = (witness.state as string[]).map(flip)
  }),
  witnessLie('another code in a witness', /^witness: node$/, (witness) => {
    witness.codes = (witness.codes as string[]).map(flip)
  }),
  {
    ...{ name: 'a witness of another block', check: /^witness: node$/, mode: 'witness', isOfBlocks: true },
    call: (call) => (call.method === 'debug_executionWitness' ? { ...call, params: ['0x1'] } : call),
  },
  witnessLie('other headers in a witness', undefined, (witness) => {
    witness.headers = (witness.headers as unknown[]).map(() => '0xc0')
  }),
  hintLie('an access list of accounts that nothing reads', 'eth_createAccessList', () => ({
    accessList: Array.from({ length: 2000 }, (_, i) => ({ address: nonsense(i), storageKeys: [] })),
    gasUsed: '0x0',
  })),
  hintLie('an access list that is none', 'eth_createAccessList', () => ({ accessList: [{ address: 7 }] })),
]
