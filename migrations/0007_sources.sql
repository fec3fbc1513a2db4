CREATE TABLE `contract_sources` (
	`abi_id` integer PRIMARY KEY NOT NULL,
	`files` integer NOT NULL,
	`sources` blob,
	`storage_layout` blob
);
