import {
  dropMembers,
  INTENDED,
  type IntendedDifference,
  mapObjects,
  SAME,
} from '../../../../tools/fuzz-chain/differences.js'

/** Names what op-geth 1.101702.3 says of failures that Cairn, like later versions of geth, explains otherwise. */
const OTHER_WORDS = /^(EIP-7702 transaction cannot|max fee per gas|both gasPrice and authorizationList)/

/** Differences between Cairn and op-geth 1.101702.3 that are meant, beside those from geth. It is geth 1.17.2 beneath:
 *  what changed between that and geth 1.17.10 comes first. */
export const OP_DIFFERENCES: readonly IntendedDifference[] = [
  ...INTENDED,
  {
    name: 'geth 1.17.2 has no 0x before memory of struct logs, and storage that is read without gas for it',
    apply: ({ method }, own, theirs) => {
      if (!method.startsWith('debug_trace')) return undefined
      const plain = (text: string) => (text.startsWith('0x') ? text.slice(2) : text)
      const withoutPrefix = (object: { [name: string]: unknown }) => {
        if (object.pc === undefined || object.gasCost === undefined) return object
        const { storage: _, memory, ...rest } = object as { storage?: object; memory?: string[] }
        return { ...rest, ...(memory && { memory: memory.map(plain) }) }
      }
      return [mapObjects(own, withoutPrefix), mapObjects(theirs, withoutPrefix)]
    },
  },
  {
    name: 'geth 1.17.2 has ranges of accounts with another key, and requires the funds of an access list',
    apply: ({ method }, own, theirs) =>
      method === 'debug_accountRange' || (method === 'eth_createAccessList' && (own.error || theirs.error))
        ? SAME
        : undefined,
  },
  {
    name: 'geth 1.17.2 names the size of code that is too long before its price',
    apply: (_, own, theirs) => (/max code size exceeded/.test(JSON.stringify(theirs)) ? SAME : [own, theirs]),
  },
  {
    name: 'geth 1.17.2 checks fees before authorizations, and has other codes for simulations',
    apply: (_, own, theirs) => {
      if (!own.error || !theirs.error) return undefined
      if (OTHER_WORDS.test(own.error.message)) return SAME
      return [own, { ...theirs, error: { ...theirs.error, code: own.error.code } }]
    },
  },
  {
    name: 'op-geth ends an answer after 30 seconds, on a busy machine',
    apply: (_, own, theirs) => (own.result && theirs.error?.message === 'request timed out' ? SAME : undefined),
  },
  {
    name: 'op-geth refuses simulations of Jovian on a block with L1 attributes of Isthmus',
    apply: (_, _own, theirs) => (/calculating DA footprint/.test(theirs.error?.message ?? '') ? SAME : undefined),
  },
  {
    name: 'op-geth pays unpaid fees of simulated calls to the vaults',
    apply: ({ method }, own, theirs) => {
      if (method !== 'eth_simulateV1') return undefined
      if (/insufficient funds/.test(own.error?.message ?? '')) return SAME
      const names = ['hash', 'parentHash', 'blockHash', 'stateRoot']
      return [dropMembers(own, names), dropMembers(theirs, names)]
    },
  },
]
