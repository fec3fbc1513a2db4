import { asFixed, asList, asUint, decodeRlp, encodeRlp, type RlpInput, type RlpItem, underPath } from './rlp.js'
import type { AccessListEntry, Authorization } from './types.js'

/** RLP of an access list (EIP-2930): a list of [address, [storage key, …]]. */
export function encodeAccessList(list: readonly AccessListEntry[]): Uint8Array {
  return encodeRlp(accessListInput(list))
}

/** An access list from its RLP. @throws DecodeError. */
export function decodeAccessList(bytes: Uint8Array): AccessListEntry[] {
  return readAccessList(decodeRlp(bytes, 'accessList'))
}

/** RLP of an authorization list (EIP-7702): a list of [chain id, address, nonce, y parity, r, s]. */
export function encodeAuthorizationList(list: readonly Authorization[]): Uint8Array {
  return encodeRlp(authorizationListInput(list))
}

/** An authorization list from its RLP. @throws DecodeError. */
export function decodeAuthorizationList(bytes: Uint8Array): Authorization[] {
  return readAuthorizationList(decodeRlp(bytes, 'authorizationList'))
}

/** Converts an access list to input of `encodeRlp`. */
export function accessListInput(list: readonly AccessListEntry[]): RlpInput {
  return list.map(({ address, storageKeys }) => [address, storageKeys])
}

/** Converts an authorization list to input of `encodeRlp`. */
export function authorizationListInput(list: readonly Authorization[]): RlpInput {
  return list.map(({ chainId, address, nonce, yParity, r, s }) => [chainId, address, nonce, yParity, r, s])
}

/** An access list from its decoded RLP. @throws DecodeError with a path from `accessList` on. */
export function readAccessList(item: RlpItem): AccessListEntry[] {
  return asList(item, 'accessList').map((entry, index) => {
    try {
      const [address, keys] = asList(entry, '', 2, 2)
      return {
        address: asFixed(address, 20, 'address'),
        storageKeys: asList(keys, 'storageKeys').map((key, at) => asFixed(key, 32, `storageKeys[${at}]`)),
      }
    } catch (error) {
      throw underPath(`accessList[${index}]`, error)
    }
  })
}

/** An authorization list from its decoded RLP. Bounds are those of EIP-7702: a tuple with an invalid signature is well
 *  formed, and execution skips it. @throws DecodeError with a path from `authorizationList` on. */
export function readAuthorizationList(item: RlpItem): Authorization[] {
  return asList(item, 'authorizationList').map((tuple, index) => {
    try {
      const fields = asList(tuple, '', 6, 6)
      return {
        chainId: asUint(fields[0], 32, 'chainId'),
        address: asFixed(fields[1], 20, 'address'),
        nonce: asUint(fields[2], 8, 'nonce'),
        yParity: asUint(fields[3], 1, 'yParity'),
        r: asUint(fields[4], 32, 'r'),
        s: asUint(fields[5], 32, 's'),
      }
    } catch (error) {
      throw underPath(`authorizationList[${index}]`, error)
    }
  })
}
