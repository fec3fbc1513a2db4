import { defineFork } from './fork.js'

/** Forks that change only blob parameters (EIP-7892), which chains name. */
export const bpo1 = defineFork('bpo1', { keys: ['bpo1Time'] })
export const bpo2 = defineFork('bpo2', { keys: ['bpo2Time'] })
export const bpo3 = defineFork('bpo3', { keys: ['bpo3Time'] })
export const bpo4 = defineFork('bpo4', { keys: ['bpo4Time'] })
export const bpo5 = defineFork('bpo5', { keys: ['bpo5Time'] })
