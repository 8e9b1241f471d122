/** Numbers of nftables' events (linux/netfilter/nf_tables.h, nfnetlink.h). */

export const NFNLGRP_NFTABLES = 7;
/** The high byte of a message's type. */
export const SUBSYSTEM_NFTABLES = 10;
/** Each message begins with family, version and resource. */
export const NFGENMSG_LENGTH = 4;

/** The low byte of a message's type. */
export const NFT_MSG_NEWTABLE = 0;
export const NFT_MSG_DELTABLE = 2;
export const NFT_MSG_NEWCHAIN = 3;
export const NFT_MSG_DELCHAIN = 5;
export const NFT_MSG_NEWRULE = 6;
export const NFT_MSG_DELRULE = 8;
/** The end of a transaction. */
export const NFT_MSG_NEWGEN = 15;
