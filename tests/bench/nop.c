/* The program that does nothing: what remains of a run is the price of the cell. */
int main(void)
{
        return 0;
}
