import { address, data, quantity } from '../core/params.js'

/* Schemas of Otterscan's objects. */

export const QUANTITY_SCHEMA = quantity.schema
export const ADDRESS_SCHEMA = address.schema
export const DATA_SCHEMA = data.schema
