import { GNOSIS_NETWORKS } from './gnosis/gnosisNetworks.js'
import { OP_NETWORKS } from './op/opNetworks.js'

/** Built-in networks of all families but Ethereum, by name. */
export const FAMILY_NETWORKS = { ...OP_NETWORKS, ...GNOSIS_NETWORKS } as const
export type FamilyNetwork = keyof typeof FAMILY_NETWORKS
