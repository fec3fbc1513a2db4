import { writeFileSync } from 'node:fs'
import { formatConfigurationPage } from '../src/cli/configurationPage.js'
import { formatMethodsPage } from '../src/rpc/methodsPage.js'
import { packagePath } from '../src/store/open.js'
import { formatExportPage } from './datasetTables.js'

writeFileSync(packagePath('docs/configuration.md'), formatConfigurationPage())
writeFileSync(packagePath('docs/methods.md'), formatMethodsPage())
writeFileSync(packagePath('docs/export.md'), formatExportPage())
