/* Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A boot sector: reads what follows it on the disk to 0x10000, enters long mode
 * with AVX-512 switched on, and calls what it has read. The first 2 MiB pages of
 * the first GiB are mapped to themselves. */
    .set LOAD, 0x10000
    .set CHUNK, 120              /* sectors a read; the BIOS takes up to 127 */
    .set CHUNKS, 9               /* 540 KiB, up to the BIOS's own memory */
    .set TABLES, 0x1000          /* page tables: three pages */

    .code16
    .globl _start
_start:
    cli
    xorw %ax, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    movw $0x7c00, %sp
    inb $0x92, %al               /* address line 20 */
    orb $2, %al
    outb %al, $0x92

    movw $CHUNKS, %bx
1:  movw $packet, %si
    movb $0x42, %ah              /* extended read */
    movb $0x80, %dl
    int $0x13
    jc fail
    addw $CHUNK * 32, packet + 6 /* segment: 512 / 16 a sector */
    addl $CHUNK, packet + 8
    decw %bx
    jnz 1b

    movw $TABLES, %di
    xorl %eax, %eax
    movw $0xc00, %cx
    rep stosl
    movl $TABLES + 0x1003, TABLES
    movl $TABLES + 0x2003, TABLES + 0x1000
    movw $TABLES + 0x2000, %di
    movl $0x83, %eax             /* present, writable, large */
    movw $512, %cx
2:  movl %eax, (%di)
    addl $0x200000, %eax
    addw $8, %di
    loop 2b

    movl $TABLES, %eax
    movl %eax, %cr3
    movl %cr4, %eax
    orl $0x40620, %eax           /* PAE, OSFXSR, OSXMMEXCPT, OSXSAVE */
    movl %eax, %cr4
    movl $0xc0000080, %ecx       /* EFER */
    rdmsr
    orl $0x100, %eax             /* long mode */
    wrmsr
    lgdt descriptor
    movl %cr0, %eax
    andl $~4, %eax               /* no emulation of the FPU */
    orl $0x80000003, %eax        /* paging, monitor, protection */
    movl %eax, %cr0
    ljmp $8, $long
fail:
    hlt
    jmp fail

    .align 4
packet:
    .byte 16, 0
    .word CHUNK, 0, LOAD / 16
    .quad 1
table:
    .quad 0, 0x00209a0000000000, 0x0000920000000000
descriptor:
    .word 23
    .long table

    .code64
long:
    movw $16, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    xorl %ecx, %ecx
    movl $0xe7, %eax             /* XCR0: x87, SSE, AVX, AVX-512 */
    xorl %edx, %edx
    xsetbv
    movq $0x3000000, %rsp
    movq $LOAD, %rax
    call *%rax
3:  hlt
    jmp 3b

    .org 510
    .word 0xaa55
