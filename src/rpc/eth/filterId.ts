import { required, text } from '../core/params.js'

/** The id of a filter as parameter and as result. */
export const filterIdParam = required('filter', text, 'id of the filter')
export const filterIdResult = { name: 'filter', schema: { type: 'string', title: 'filter id' } } as const
