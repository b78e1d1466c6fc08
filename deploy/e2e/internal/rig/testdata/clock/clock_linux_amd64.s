#include "textflag.h"

// wrongClock is clock_gettime(DI: which clock, SI: where to write it), called by the runtime as it calls the kernel's: on the stack of the
// system, with the registers of C. It adds to the wall clock, which is number 0.
TEXT ·wrongClock(SB), NOSPLIT|NOFRAME, $0
	PUSHQ DI
	PUSHQ SI
	SUBQ  $8, SP // C wants the stack aligned to 16 bytes
	MOVQ  ·rightClock(SB), AX
	CALL  AX
	ADDQ  $8, SP
	POPQ  SI
	POPQ  DI
	CMPL  DI, $0
	JNE   done
	MOVQ  ·ahead(SB), CX
	MOVQ  (CX), CX
	ADDQ  CX, 0(SI)
done:
	RET

// func addressOfWrongClock() uintptr
TEXT ·addressOfWrongClock(SB), NOSPLIT, $0-8
	LEAQ ·wrongClock(SB), AX
	MOVQ AX, ret+0(FP)
	RET
