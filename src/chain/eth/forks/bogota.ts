import { AMSTERDAM_CONTRACTS, AMSTERDAM_INSTRUCTIONS, AMSTERDAM_PRICES } from './amsterdam.js'
import { defineFork } from './fork.js'

/** A fork of geth's development chain, which omits Amsterdam: it has only Amsterdam's instructions and gas prices. geth
 *  lists the contracts of EIP-8282 for it too. */
export const bogota = defineFork('bogota', {
  keys: ['bogotaTime'],
  instructions: AMSTERDAM_INSTRUCTIONS,
  parameters: AMSTERDAM_PRICES,
  systemContracts: AMSTERDAM_CONTRACTS,
})
