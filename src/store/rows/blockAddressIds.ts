import type { Dictionary } from '../dictionary.js'

/** Ids of the addresses in one block. */
export interface BlockAddressIds {
  /** The id of an address of 20 bytes, which is added to the dictionary if it is new. */
  idOf(address: Uint8Array): number
  /** The address of an id that `idOf` returned, 20 bytes. */
  addressOf(id: number): Uint8Array
}

/** Creates the ids of a block that is written. An address is looked up once, by identity: the parts of a block share
 *  equal addresses. */
export function createBlockAddressIds(dictionary: Pick<Dictionary, 'idOf'>): BlockAddressIds {
  const ids = new Map<Uint8Array, number>()
  const addresses = new Map<number, Uint8Array>()
  return {
    idOf: (address) => {
      let id = ids.get(address)
      if (id === undefined) {
        id = dictionary.idOf(address)
        ids.set(address, id)
        addresses.set(id, address)
      }
      return id
    },
    addressOf: (id) => addresses.get(id)!,
  }
}
